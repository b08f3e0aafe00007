# SPDX-License-Identifier: BSL-1.0
"""Makes the Conan package and uses it as two projects do, and as the public index would. See test_consumer.py.

Nothing is downloaded: packaging/conan-index lets the distribution's libraries stand in for those of a public index.
"""

import os
import pathlib
import sys
import unittest

from test_consumer import ONE_TARGET, SOURCE, archive_of_sources, project_copy, run, workplace

PROFILE = SOURCE / "packaging/conan-index/profile"


class conan(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = workplace(cls)
        cls.environment = os.environ | {"CONAN_HOME": str(cls.work / "home"), "CXXFLAGS": ONE_TARGET}
        cls.conan("profile", "detect")
        cls.conan("remote", "remove", "*")
        cls.conan("remote", "add", "system", SOURCE / "packaging/conan-index", "--type", "local-recipes-index")
        # From a copy: what the recipe does not export it does not have, and nothing is left behind.
        archive_of_sources(cls.work / "sources.tar.gz")
        run("tar", "-xzf", cls.work / "sources.tar.gz", "-C", cls.work)
        # Its own test package comes with all options, below.
        cls.conan("create", cls.work / "fuse-rewrite", "--profile:all", PROFILE, "--build=missing", "--test-folder=")

    @classmethod
    def conan(cls, *words):
        return run(pathlib.Path(sys.executable).with_name("conan"), *words, env=cls.environment)

    def consume(self, recipe, *components):
        project = project_copy(self.work / recipe)
        self.conan("install", project / recipe, "--profile:all", PROFILE, "--output-folder", project / "conan", "--build=missing")
        toolchain = project / "conan/conan_toolchain.cmake"
        build = project / "build"
        options = (f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", "-DCMAKE_BUILD_TYPE=Debug", f"-DCOMPONENTS={';'.join(components)}")
        run("cmake", "-G", "Ninja", "-S", project, "-B", build, *options, env=self.environment)
        run("cmake", "--build", build)
        for program in ["consumer", *(f"consumer_{component}" for component in components)]:
            run(build / program)

    def test_text_recipe(self):
        self.consume("conanfile.txt", "kernels")

    def test_python_recipe_without_the_optional_dependencies(self):
        self.consume("conanfile.py")

    def test_recipe_of_an_index_with_all_options(self):
        archive = self.work / "sources.tar.gz"
        made = self.work / "index"
        run(sys.executable, SOURCE / "packaging/conan_center.py", "--archive", archive, "--url", archive.as_uri(), "--output", made)
        version = self.conan("inspect", SOURCE, "--format", "json").split('"version": "')[1].split('"')[0]
        recipe = made / "recipes/fuse-rewrite/all"
        options = (word for name in ("onnx", "boost") for word in ("--options", f"&:with_{name}=True"))
        self.conan("create", recipe, "--version", version, "--profile:all", PROFILE, "--build=missing", *options)


if __name__ == "__main__":
    unittest.main()
