# SPDX-License-Identifier: BSL-1.0
from conan import ConanFile
from conan.tools.system.package_manager import Apt


class boost(ConanFile):
    name = "boost"
    version = "system"
    description = "The distribution's Boost headers under the names of the public recipe"
    license = "BSL-1.0"
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"

    def system_requirements(self):
        Apt(self).install(["libboost-dev"], check=True)

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "Boost")
        headers = self.cpp_info.components["headers"]
        headers.set_property("cmake_target_name", "Boost::headers")
        headers.includedirs = headers.libdirs = headers.bindirs = []
