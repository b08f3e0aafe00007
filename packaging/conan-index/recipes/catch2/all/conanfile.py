# SPDX-License-Identifier: BSL-1.0
from conan import ConanFile
from conan.tools.system.package_manager import Apt


class catch2(ConanFile):
    name = "catch2"
    version = "system"
    description = "The distribution's Catch2 under the names of the public recipe"
    license = "BSL-1.0"
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"

    def system_requirements(self):
        Apt(self).install(["catch2"], check=True)

    def package_id(self):
        self.info.clear()

    def package_info(self):
        # The distribution's own package file is found instead of one that Conan makes.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.includedirs = self.cpp_info.libdirs = self.cpp_info.bindirs = []
