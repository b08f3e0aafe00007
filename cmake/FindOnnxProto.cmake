# Finds the C++ classes of ONNX's messages and the protobuf runtime under them, as OnnxProto::OnnxProto.
# The configuration files that distributions ship are not used: Debian 12's wants every optional library of the package
# installed, Debian 13's looks for the protobuf compiler.
find_path(OnnxProto_INCLUDE_DIR onnx/onnx_pb.h)
find_library(OnnxProto_LIBRARY onnx_proto)
find_path(OnnxProto_PROTOBUF_INCLUDE_DIR google/protobuf/message.h)
find_library(OnnxProto_PROTOBUF_LIBRARY protobuf)
mark_as_advanced(OnnxProto_INCLUDE_DIR OnnxProto_LIBRARY OnnxProto_PROTOBUF_INCLUDE_DIR OnnxProto_PROTOBUF_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  OnnxProto REQUIRED_VARS OnnxProto_LIBRARY OnnxProto_INCLUDE_DIR OnnxProto_PROTOBUF_LIBRARY OnnxProto_PROTOBUF_INCLUDE_DIR)

if(OnnxProto_FOUND AND NOT TARGET OnnxProto::OnnxProto)
  find_package(Threads REQUIRED)
  add_library(OnnxProto::OnnxProto UNKNOWN IMPORTED)
  set_target_properties(
    OnnxProto::OnnxProto
    PROPERTIES IMPORTED_LOCATION "${OnnxProto_LIBRARY}"
               INTERFACE_INCLUDE_DIRECTORIES "${OnnxProto_INCLUDE_DIR};${OnnxProto_PROTOBUF_INCLUDE_DIR}"
               INTERFACE_COMPILE_DEFINITIONS "ONNX_NAMESPACE=onnx;ONNX_ML=1"
               INTERFACE_LINK_LIBRARIES "${OnnxProto_PROTOBUF_LIBRARY};Threads::Threads")
endif()
