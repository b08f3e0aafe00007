# SPDX-License-Identifier: BSL-1.0
from conan import ConanFile
from conan.tools.system.package_manager import Apt


class onnx(ConanFile):
    name = "onnx"
    version = "system"
    description = "The distribution's ONNX messages and protobuf under the names of the public recipe"
    license = "Apache-2.0"
    package_type = "shared-library"
    settings = "os", "arch", "compiler", "build_type"

    def system_requirements(self):
        Apt(self).install(["libonnx-dev", "libprotobuf-dev"], check=True)

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "ONNX")
        # Not the public recipe's onnx_proto: the library itself would be taken for that target.
        messages = self.cpp_info.components["onnx_proto"]
        messages.set_property("cmake_target_name", "ONNX::onnx_proto")
        messages.includedirs = messages.libdirs = messages.bindirs = []
        messages.system_libs = ["onnx_proto", "protobuf"]
