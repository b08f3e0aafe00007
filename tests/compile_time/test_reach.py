# SPDX-License-Identifier: BSL-1.0
"""What <fuse/fuse.hpp> brings into a source, read off the preprocessed text: the standard library and fuse's own tower."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
COMPILER = os.environ.get("CXX", "g++")
# Folders of the libraries that components need, and of these components.
OPTIONAL = {"boost", "hwy", "google", "onnx", "eigen3", "torch", "ATen", "adapters", "kernels", "kernelgen"}
MARKER = re.compile(r'^# \d+ "([^"<]+)"', re.MULTILINE)


def optional_files(source, *options):
    """The files of optional libraries in the preprocessed `source`."""
    command = [COMPILER, "-std=c++20", "-E", "-x", "c++", f"-I{INCLUDE}", *options, "-"]
    text = subprocess.run(command, input=source, stdout=subprocess.PIPE, text=True, check=True).stdout
    files = set(MARKER.findall(text))
    assert any(file.endswith("fuse/fuse.hpp") for file in files)
    return {file for file in files if OPTIONAL & set(pathlib.PurePath(file).parts)}


class Reach(unittest.TestCase):
    def test_the_library(self):
        self.assertEqual(optional_files("#include <fuse/fuse.hpp>\n"), set())

    def test_the_engine_compiled_once(self):
        self.assertEqual(optional_files("#include <fuse/separate.hpp>\n", "-DFUSE_REWRITE_SEPARATE"), set())

    def test_what_is_reached_is_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            header = pathlib.Path(folder) / "boost/any.hpp"
            header.parent.mkdir()
            header.write_text("#pragma once\nusing any = int;\n", encoding="utf-8")
            self.assertEqual(optional_files("#include <fuse/fuse.hpp>\n#include <boost/any.hpp>\n", f"-I{folder}"), {str(header)})


if __name__ == "__main__":
    unittest.main()
