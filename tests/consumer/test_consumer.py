# SPDX-License-Identifier: BSL-1.0
"""Uses the library as somebody else's project does, in every way that the README names.

The project is copied out of the source tree, and sees of fuse what its way of coming by it gives. Environment:
    FUSE_BUILD       the library's build folder, to install from
    FUSE_COMPONENTS  the optional components that it offers ("onnx kernels")
    CXX              the compiler
"""

import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
BUILD = os.environ["FUSE_BUILD"]
CXX = os.environ["CXX"]
COMPONENTS = os.environ["FUSE_COMPONENTS"].split()
STANDARD = "-std=c++20"
# Programs whose kernels are compiled in one source.
KERNELS_SEPARATE = ["consumer_kernels_separate"] if "kernels" in COMPONENTS else []
# Kernels for one target, not for all that a compiler knows: that they are found and link is all that is asked here.
ONE_TARGET = "-DHWY_COMPILE_ONLY_STATIC"
# What a package of the sources holds.
PACKAGED = ["CMakeLists.txt", "LICENSE", "cmake", "conanfile.py", "include", "packaging"]


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def workplace(tests):
    """A folder that lives as long as the tests of a class run."""
    folder = tempfile.TemporaryDirectory(prefix="fuse-consumer-")
    tests.addClassCleanup(folder.cleanup)
    return pathlib.Path(folder.name)


def project_copy(folder):
    return shutil.copytree(HERE, folder, ignore=shutil.ignore_patterns("test_*.py", "__pycache__"))


def archive_of_sources(archive):
    with tarfile.open(archive, "w:gz") as package:
        for name in PACKAGED:
            package.add(SOURCE / name, f"fuse-rewrite/{name}")
    return archive


class consumer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = workplace(cls)
        cls.prefix = cls.work / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.archive = archive_of_sources(cls.work / "fuse-rewrite.tar.gz")
        cls.project = project_copy(cls.work / "project")

    def build(self, way, *options, targets=("all",)):
        """Configures and builds the project; its programs stand in the folder that this returns."""
        folder = self.work / way
        run("cmake", "-G", "Ninja", "-S", self.project, "-B", folder, f"-DCMAKE_CXX_COMPILER={CXX}", f"-DCMAKE_CXX_FLAGS={ONE_TARGET}", f"-DWAY={way}", *options)
        run("cmake", "--build", folder, "--target", *targets)
        return folder

    def compile(self, way, *options, source="main.cpp"):
        """Compiles a program of the project by hand, and runs it."""
        program = self.work / way
        run(CXX, STANDARD, *options, self.project / source, "-o", program)
        run(program)

    def test_installed(self):
        programs = self.build(
            "installed",
            f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCOMPONENTS={';'.join(COMPONENTS)}",
            targets=("all", "consumer_rewrite", "consumer_separate", *KERNELS_SEPARATE),
        )
        for program in ["consumer", "consumer_rewrite", "consumer_separate", *KERNELS_SEPARATE, *(f"consumer_{component}" for component in COMPONENTS)]:
            run(programs / program)

    def test_a_component_that_was_not_installed_is_told(self):
        with self.assertRaisesRegex(AssertionError, "installed without the component nonsense"):
            self.build("incomplete", f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCOMPONENTS=nonsense")

    def test_subdirectory(self):
        run("tar", "-xzf", self.archive, "-C", self.work)
        programs = self.build("subdirectory", f"-DFUSE_SOURCE={self.work / 'fuse-rewrite'}", "-DCOMPONENTS=", targets=("consumer", *KERNELS_SEPARATE))
        for program in ["consumer", *KERNELS_SEPARATE]:
            run(programs / program)

    def test_fetch_content(self):
        programs = self.build("fetch_content", f"-DFUSE_ARCHIVE={self.archive}", targets=("consumer",))
        run(programs / "consumer")

    def test_pkg_config(self):
        moved = shutil.copytree(self.prefix, self.work / "moved")
        environment = os.environ | {"PKG_CONFIG_PATH": str(moved / "share/pkgconfig")}
        flags = run("pkg-config", "--cflags", "fuse-rewrite", env=environment).split()
        self.assertIn(str(moved), " ".join(flags))
        self.compile("pkg_config", *flags)
        with (SOURCE / "include/fuse/core/version.hpp").open(encoding="utf-8") as header:
            version = ".".join(line.split()[2] for line in header if line.startswith("#define FUSE_REWRITE_VERSION_"))
        self.assertEqual(run("pkg-config", "--modversion", "fuse-rewrite", env=environment).strip(), version)

    def test_include_path(self):
        self.compile("include_path", "-I", self.prefix / "include")

    def test_single_header(self):
        shutil.copytree(SOURCE / "single_include", self.work / "single")
        self.compile("single_header", "-I", self.work / "single", source="rewrite.cpp")


if __name__ == "__main__":
    unittest.main()
