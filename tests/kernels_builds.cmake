# The kernels in other builds than the one at hand: optimised or not, for other machines. Sanitizers have seen the same code in `kernels`.
include(CheckCXXCompilerFlag)

# Two sources of one program, compiled for different machines, linked in either order, share no code of the kernels; where size counts, little is
# inlined by itself.
foreach(machine IN ITEMS any avx512)
  add_library(kernels_for_${machine} OBJECT kernels_flags/norms.cpp)
  target_link_libraries(kernels_for_${machine} PRIVATE fuse::kernels)
  target_compile_definitions(kernels_for_${machine} PRIVATE FUSE_TEST_NAME=norms_for_${machine})
  target_compile_options(kernels_for_${machine} PRIVATE -Os -fno-sanitize=all)
endforeach()
target_compile_options(kernels_for_avx512 PRIVATE -mavx512f)
add_test(NAME kernels_flags.symbols
         COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/kernels_flags/check.py" "${CMAKE_NM}"
                 $<TARGET_OBJECTS:kernels_for_any> $<TARGET_OBJECTS:kernels_for_avx512>)
add_library(kernels_flags_main OBJECT kernels_flags/main.cpp)
target_link_libraries(kernels_flags_main PRIVATE fuse::kernels)
foreach(order IN ITEMS "any avx512" "avx512 any")
  string(REPLACE " " ";" machines "${order}")
  list(JOIN machines "_" name)
  add_executable(kernels_linked_${name} $<TARGET_OBJECTS:kernels_flags_main>)
  foreach(machine IN LISTS machines)
    target_sources(kernels_linked_${name} PRIVATE $<TARGET_OBJECTS:kernels_for_${machine}>)
  endforeach()
  add_test(NAME kernels_flags.${name} COMMAND kernels_linked_${name})
endforeach()

# add_build(NAME WORDS FLAGS...): kernels_builds/main.cpp, compiled with FLAGS and called with WORDS.
add_custom_target(kernels_builds DEPENDS kernels_linked_any_avx512 kernels_linked_avx512_any)
function(add_build name words)
  add_executable(kernels_build_${name} kernels_builds/main.cpp)
  add_dependencies(kernels_builds kernels_build_${name})
  target_link_libraries(kernels_build_${name} PRIVATE fuse::kernels)
  target_compile_options(kernels_build_${name} PRIVATE ${ARGN} -fno-sanitize=all)
  add_test(NAME kernels_builds.${name} COMMAND kernels_build_${name} ${words})
  set_tests_properties(kernels_builds.${name} PROPERTIES LABELS kernels SKIP_RETURN_CODE 77)
endfunction()

add_build(plain "" -O0)
add_build(every_target "with=AVX3_DL" -O2 -DHWY_WANT_AVX3_DL -DHWY_COMPILE_ALL_ATTAINABLE)
add_build(inlined "with=AVX2" -O3)
add_build(fewer_targets "without=SSE4" -O2 "-DHWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4)")
# What clang says of its own -march=native where the machine has AVX10: functions for other machines name features beside these.
check_cxx_compiler_flag(-Winvalid-feature-combination FUSE_HAS_FEATURE_COMBINATIONS)
add_build(native "" -O2 -march=native $<$<BOOL:${FUSE_HAS_FEATURE_COMBINATIONS}>:-Wno-invalid-feature-combination>)
add_build(static_by_name "only=AVX2" -O2 -march=x86-64-v3 -DFUSE_REWRITE_KERNELS_STATIC)
add_build(static_by_flags "only=AVX2" -O3 -mavx2 -mfma -mbmi -mbmi2 -mf16c -DFUSE_REWRITE_KERNELS_STATIC)
add_build(without_vectors "only=SCALAR" -O2 -DHWY_COMPILE_ONLY_SCALAR)
set_tests_properties(kernels_flags.symbols kernels_flags.any_avx512 kernels_flags.avx512_any PROPERTIES LABELS kernels)
