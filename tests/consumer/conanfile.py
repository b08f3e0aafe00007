# SPDX-License-Identifier: BSL-1.0
from conan import ConanFile


class consumer(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self):
        self.requires("fuse-rewrite/[>=0.1]", options={"with_kernels": False})
