# For a preset's CMAKE_PROJECT_INCLUDE: clang reads everything and instantiates it, with all of its warnings, and makes nothing of it, which is half of
# its time. Precompiled headers are made all the same.
set(FUSE_REWRITE_SYNTAX_ONLY ON)
set(CMAKE_CXX_COMPILE_OBJECT "<CMAKE_CXX_COMPILER> <DEFINES> <INCLUDES> <FLAGS> -fsyntax-only -Xclang -o -Xclang <OBJECT> <SOURCE>")
foreach(made IN ITEMS LINK_EXECUTABLE CREATE_SHARED_MODULE ARCHIVE_CREATE ARCHIVE_FINISH)
  set(CMAKE_CXX_${made} "${CMAKE_COMMAND} -E true")
endforeach()
