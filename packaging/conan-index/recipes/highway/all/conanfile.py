# SPDX-License-Identifier: BSL-1.0
from conan import ConanFile
from conan.tools.system.package_manager import Apt


class highway(ConanFile):
    name = "highway"
    version = "system"
    description = "The distribution's Highway under the names of the public recipe"
    license = "Apache-2.0"
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"

    def system_requirements(self):
        Apt(self).install(["libhwy-dev"], check=True)

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "highway")
        hwy = self.cpp_info.components["hwy"]
        hwy.set_property("cmake_target_name", "highway::hwy")
        hwy.includedirs = hwy.libdirs = hwy.bindirs = []
