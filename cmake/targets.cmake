# fuse::fuse is the library; each optional dependency is a target of its own and never reaches the core.
file(GLOB_RECURSE core_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/fuse/*.hpp")
set(onnx_headers ${core_headers})
list(FILTER onnx_headers INCLUDE REGEX "/fuse/adapters/onnx")
set(kernels_headers ${core_headers})
list(FILTER kernels_headers INCLUDE REGEX "/fuse/kernels/")
set(boost_graph_headers ${core_headers})
list(FILTER boost_graph_headers INCLUDE REGEX "/fuse/adapters/boost_graph")
list(FILTER core_headers EXCLUDE REGEX "/fuse/(adapters/|kernels/)")

add_library(fuse INTERFACE)
add_library(fuse::fuse ALIAS fuse)
target_compile_features(fuse INTERFACE cxx_std_20)
target_sources(fuse INTERFACE FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${core_headers})

# The engine compiled once, for programs with rewrites in several sources; see fuse/separate.hpp. Not installed: a
# package of headers leaves that one source to its user.
file(CONFIGURE OUTPUT separate.cpp CONTENT "#include <fuse/separate.hpp>\n")
add_library(fuse_separate STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_BINARY_DIR}/separate.cpp")
add_library(fuse::separate ALIAS fuse_separate)
target_link_libraries(fuse_separate PUBLIC fuse)
target_compile_definitions(fuse_separate PUBLIC FUSE_REWRITE_SEPARATE)

if(FUSE_REWRITE_ONNX)
  find_package(OnnxProto)
endif()
if(TARGET OnnxProto::OnnxProto)
  add_library(fuse_onnx INTERFACE)
  add_library(fuse::onnx ALIAS fuse_onnx)
  set_target_properties(fuse_onnx PROPERTIES EXPORT_NAME onnx)
  target_link_libraries(fuse_onnx INTERFACE fuse OnnxProto::OnnxProto)
  target_sources(fuse_onnx INTERFACE FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${onnx_headers})
endif()

if(FUSE_REWRITE_BOOST_GRAPH)
  find_package(Boost 1.74 CONFIG QUIET GLOBAL)
endif()
if(TARGET Boost::headers)
  add_library(fuse_boost_graph INTERFACE)
  add_library(fuse::boost_graph ALIAS fuse_boost_graph)
  set_target_properties(fuse_boost_graph PROPERTIES EXPORT_NAME boost_graph)
  # An imported target: its headers are the system's, and warn nobody.
  target_link_libraries(fuse_boost_graph INTERFACE fuse Boost::headers)
  target_sources(fuse_boost_graph INTERFACE FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include"
                                            FILES ${boost_graph_headers})
endif()

if(FUSE_REWRITE_KERNELS)
  find_package(hwy QUIET GLOBAL)
endif()
if(TARGET hwy::hwy)
  add_library(fuse_kernels INTERFACE)
  add_library(fuse::kernels ALIAS fuse_kernels)
  set_target_properties(fuse_kernels PROPERTIES EXPORT_NAME kernels)
  target_link_libraries(fuse_kernels INTERFACE fuse)
  # Highway's headers are all it takes: nothing is linked.
  target_include_directories(fuse_kernels SYSTEM INTERFACE "$<TARGET_PROPERTY:hwy::hwy,INTERFACE_INCLUDE_DIRECTORIES>")
  target_compile_definitions(fuse_kernels INTERFACE "$<TARGET_PROPERTY:hwy::hwy,INTERFACE_COMPILE_DEFINITIONS>")
  target_sources(fuse_kernels INTERFACE FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${kernels_headers})

  # The kernels compiled once; see fuse/kernels/separate.hpp. Not installed either.
  file(CONFIGURE OUTPUT kernels_separate.cpp CONTENT "#include <fuse/kernels/separate.hpp>\n")
  add_library(fuse_kernels_separate STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_BINARY_DIR}/kernels_separate.cpp")
  add_library(fuse::kernels_separate ALIAS fuse_kernels_separate)
  target_link_libraries(fuse_kernels_separate PUBLIC fuse_kernels)
  target_compile_definitions(fuse_kernels_separate PUBLIC FUSE_REWRITE_KERNELS_SEPARATE)
endif()
