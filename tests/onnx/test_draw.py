# SPDX-License-Identifier: BSL-1.0
"""Models are drawn, with frames around what rules would replace; what cannot be drawn leaves no file."""

import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["FUSE_ONNX"]
MODEL = pathlib.Path(os.environ["FUSE_MODELS"]) / "llama-op14.onnx"


class draw(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def draw(self, name, *options, **environment):
        """The process, and the drawing or None."""
        file = self.folder / name
        done = subprocess.run([PROGRAM, "draw", MODEL, "-o", file, *options], stderr=subprocess.PIPE, text=True, check=False,
                              env=os.environ | environment)
        return done, file.read_text(encoding="utf-8") if file.exists() else None

    def test_frames_stand_around_what_is_replaced(self):
        done, text = self.draw("out.dot", "--rule", "rms-norm")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(text.count('label="rms-norm"'), 5)
        self.assertIn("batch,sequence,32]", text)

    def test_what_is_near_a_node(self):
        _, whole = self.draw("out.dot")
        done, text = self.draw("out.dot", "--around", "/m/norm/Mul_1", "--hops", "1")
        self.assertEqual(done.returncode, 0)
        self.assertLess(len(text), len(whole) / 10)
        self.assertIn("/m/norm/Mul_1", text)

    def test_without_graphviz_a_picture_is_refused(self):
        done, drawing = self.draw("out.svg", PATH=str(self.folder))
        self.assertEqual((done.returncode, drawing), (1, None))
        self.assertRegex(done.stderr, "^fuse-onnx: .*'dot' is not installed.*\n$")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_picture_is_what_graphviz_makes(self):
        program = self.folder / "dot"
        program.write_text("#!/bin/sh\nexec /bin/cat\n", encoding="utf-8")
        program.chmod(0o755)
        done, drawing = self.draw("out.svg", PATH=str(self.folder))
        self.assertEqual(done.returncode, 0)
        self.assertTrue(drawing.startswith("digraph"))

    def test_graphviz_that_fails_leaves_no_picture(self):
        program = self.folder / "dot"
        program.write_text("#!/bin/sh\necho half\nexit 3\n", encoding="utf-8")
        program.chmod(0o755)
        done, drawing = self.draw("out.svg", PATH=str(self.folder))
        self.assertEqual((done.returncode, drawing), (1, None))

    def test_wrong_usage(self):
        for name, *options in (("out.png",), ("out.dot", "--rule", "nonsense"), ("out.dot", "--around", "nonsense")):
            done, drawing = self.draw(name, *options)
            self.assertEqual((done.returncode, drawing), (2, None))


if __name__ == "__main__":
    unittest.main()
