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
if(TARGET fuse_boost_graph)
  install(TARGETS fuse_boost_graph EXPORT fuse-rewrite-boost_graph FILE_SET HEADERS)
  install(EXPORT fuse-rewrite-boost_graph NAMESPACE fuse:: DESTINATION "${package_dir}")
endif()
if(TARGET fuse_hana)
  install(TARGETS fuse_hana EXPORT fuse-rewrite-hana FILE_SET HEADERS)
  install(EXPORT fuse-rewrite-hana NAMESPACE fuse:: DESTINATION "${package_dir}")
endif()
if(TARGET fuse_kernels)
  install(TARGETS fuse_kernels EXPORT fuse-rewrite-kernels FILE_SET HEADERS)
  install(EXPORT fuse-rewrite-kernels NAMESPACE fuse:: DESTINATION "${package_dir}")
endif()
install(FILES cmake/fuse-rewrite-config.cmake cmake/FindOnnxProto.cmake
              "${PROJECT_BINARY_DIR}/fuse-rewrite-config-version.cmake" DESTINATION "${package_dir}")

# Headers need no more than a path; it follows the package wherever that is moved to.
set(pkgconfig_dir "${CMAKE_INSTALL_DATADIR}/pkgconfig")
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}/${pkgconfig_dir}"
           OUTPUT_VARIABLE up_to_prefix)
configure_file(cmake/fuse-rewrite.pc.in fuse-rewrite.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/fuse-rewrite.pc" DESTINATION "${pkgconfig_dir}")

install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/fuse-rewrite")
