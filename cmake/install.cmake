include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/fuse-rewrite")
write_basic_package_version_file(fuse-rewrite-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

install(TARGETS fuse EXPORT fuse-rewrite-core FILE_SET HEADERS)
install(EXPORT fuse-rewrite-core NAMESPACE fuse:: DESTINATION "${package_dir}")
if(TARGET fuse_onnx)
  install(TARGETS fuse_onnx EXPORT fuse-rewrite-onnx FILE_SET HEADERS)
  install(EXPORT fuse-rewrite-onnx NAMESPACE fuse:: DESTINATION "${package_dir}")
endif()
if(TARGET fuse_kernels)
  install(TARGETS fuse_kernels EXPORT fuse-rewrite-kernels FILE_SET HEADERS)
  install(EXPORT fuse-rewrite-kernels NAMESPACE fuse:: DESTINATION "${package_dir}")
endif()
install(FILES cmake/fuse-rewrite-config.cmake cmake/FindOnnxProto.cmake
              "${PROJECT_BINARY_DIR}/fuse-rewrite-config-version.cmake" DESTINATION "${package_dir}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/fuse-rewrite")
