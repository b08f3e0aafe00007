# Which of Highway's targets the tests and, beside them, the examples are compiled for: what the compiler takes for granted, AVX2, and AVX-512 where
# this machine runs it or the compiler only reads. Each is the whole program once more. The jobs kernels-builds and bits compile the kernels of
# kernels/ for all of them.
set(hwy_left_out "HWY_SSSE3|HWY_SSE4|(HWY_AVX3-1)")
set(takes_avx512 ${FUSE_REWRITE_SYNTAX_ONLY})
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo takes_avx512 REGEX "^flags.* avx512bw .*avx512vl" LIMIT_COUNT 1)
endif()
if(NOT takes_avx512)
  string(APPEND hwy_left_out "|HWY_AVX3")
endif()

# compile_for_tested_targets(PROGRAM): PROGRAM's kernels, if it has some.
function(compile_for_tested_targets program)
  target_compile_definitions(${program} PRIVATE "HWY_DISABLED_TARGETS=(${hwy_left_out})")
endfunction()
