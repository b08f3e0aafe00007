# SPDX-License-Identifier: BSL-1.0
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get, load

required_conan_version = ">=2.0"


class fuse_rewrite(ConanFile):
    name = "fuse-rewrite"
    description = "Graph rewriting from one expression: a header-only library for tensor programs"
    license = "BSL-1.0"
    topics = ("graph-rewriting", "pattern-matching", "onnx", "simd", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    # Each brings what a component's headers include; all headers are in every package.
    options = {"with_kernels": [True, False], "with_onnx": [True, False], "with_boost": [True, False]}
    default_options = {"with_kernels": True, "with_onnx": False, "with_boost": False}
    exports_sources = "CMakeLists.txt", "LICENSE", "cmake/*", "examples/*", "include/*", "tests/*"
    no_copy_source = True
    test_package_folder = "packaging/test_package"

    # This recipe stands beside the sources that it packages, or in an index, with an archive of them in conandata.yml.
    @property
    def _in_index(self):
        return bool(self.conan_data)

    def set_version(self):
        if not self._in_index:
            header = load(self, os.path.join(self.recipe_folder, "include/fuse/core/version.hpp"))
            self.version = ".".join(re.findall(r"#define FUSE_REWRITE_VERSION_[A-Z]+ (\d+)", header))

    def source(self):
        if self._in_index:
            get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def requirements(self):
        if self.options.with_kernels:
            self.requires("highway/1.2.0")
        if self.options.with_onnx:
            self.requires("onnx/1.17.0")
        if self.options.with_boost:
            self.requires("boost/1.86.0")

    @property
    def _tested(self):
        return not self.conf.get("tools.build:skip_test", default=True, check_type=bool)

    def build_requirements(self):
        if self._tested:
            self.test_requires("catch2/3.7.1")

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self, src_folder="src" if self._in_index else ".")

    def package_id(self):
        self.info.clear()

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["FUSE_REWRITE_BUILD_TESTS"] = self._tested
        toolchain.cache_variables["FUSE_REWRITE_BUILD_EXAMPLES"] = False
        toolchain.cache_variables["FUSE_REWRITE_BUILD_BENCH"] = False
        toolchain.cache_variables["FUSE_REWRITE_ONNX"] = False
        toolchain.cache_variables["FUSE_REWRITE_BOOST_GRAPH"] = False
        toolchain.cache_variables["FUSE_REWRITE_HANA"] = False
        toolchain.generate()
        deps = CMakeDeps(self)
        # As Highway itself and Debian call it.
        deps.set_property("highway", "cmake_file_name", "hwy")
        deps.set_property("highway::hwy", "cmake_target_name", "hwy::hwy")
        deps.generate()

    def build(self):
        if self._tested:
            cmake = CMake(self)
            cmake.configure()
            cmake.build(target="unit")
            cmake.ctest(["-L", "unit", "--output-on-failure"])

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "*.hpp", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "fuse-rewrite")
        self.cpp_info.set_property("pkg_config_name", "fuse-rewrite")
        self.cpp_info.bindirs = self.cpp_info.libdirs = []
        core = self._component("fuse")
        core.set_property("pkg_config_name", "fuse-rewrite")
        if self.options.with_kernels:
            self._component("kernels").requires = ["fuse", "highway::hwy"]
        if self.options.with_onnx:
            onnx = self._component("onnx")
            onnx.requires = ["fuse", "onnx::onnx_proto"]
            onnx.defines = ["ONNX_NAMESPACE=onnx", "ONNX_ML=1"]
        if self.options.with_boost:
            self._component("boost_graph").requires = ["fuse", "boost::headers"]
            self._component("hana").requires = ["fuse", "boost::headers"]

    def _component(self, name):
        component = self.cpp_info.components[name]
        component.set_property("cmake_target_name", f"fuse::{name}")
        component.bindirs = component.libdirs = []
        return component
