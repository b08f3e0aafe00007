# Checks of the source tree that compile nothing. Each is a target that anyone can run.
find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  return()
endif()

find_program(FUSE_REWRITE_CLANG_FORMAT NAMES clang-format-14 clang-format)
add_custom_target(
  format
  COMMAND "${Python3_EXECUTABLE}" scripts/check_format.py --clang-format "${FUSE_REWRITE_CLANG_FORMAT}"
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
  VERBATIM)
add_custom_target(
  links
  COMMAND "${Python3_EXECUTABLE}" scripts/check_links.py
  COMMAND "${Python3_EXECUTABLE}" scripts/check_elements.py
  COMMAND "${Python3_EXECUTABLE}" scripts/check_rules.py
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
  VERBATIM)
add_custom_target(
  layers
  COMMAND "${Python3_EXECUTABLE}" scripts/check_layers.py
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
  VERBATIM)
add_custom_target(
  bits
  COMMAND "${Python3_EXECUTABLE}" scripts/check_bits.py
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
  COMMENT "Comparing bits of the kernels between compilers, flags and machines (scripts/setup clang aarch64 installs them)"
  VERBATIM USES_TERMINAL)
add_custom_target(
  single_header
  COMMAND "${Python3_EXECUTABLE}" scripts/amalgamate.py --check
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
  VERBATIM)
add_custom_target(
  site
  COMMAND "${CMAKE_COMMAND}" -E env NO_MKDOCS_2_WARNING=1 build/site-venv/bin/mkdocs build --quiet
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
  COMMENT "Making build/site/index.html of the documentation (scripts/setup site installs what it takes)"
  VERBATIM)
