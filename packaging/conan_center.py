#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes the recipe as the public index of Conan packages wants it: recipes/fuse-rewrite with config.yml and all/.

    packaging/conan_center.py --archive fuse-rewrite.tar.gz --url URL --output DIR

ARCHIVE is what URL leads to: the sources of this version below one folder.
"""

import argparse
import hashlib
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from amalgamate import version  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--archive", type=pathlib.Path, required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    if not options.archive.is_file():
        parser.error(f"--archive: no file {options.archive}")

    folder = options.output / "recipes" / "fuse-rewrite"
    recipe = folder / "all"
    recipe.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(options.archive.read_bytes()).hexdigest()
    (folder / "config.yml").write_text(f'versions:\n  "{version()}":\n    folder: all\n', encoding="utf-8")
    (recipe / "conandata.yml").write_text(
        f'sources:\n  "{version()}":\n    url: "{options.url}"\n    sha256: "{digest}"\n', encoding="utf-8"
    )
    # The index keeps what is tested beside the recipe.
    text = (ROOT / "conanfile.py").read_text(encoding="utf-8")
    (recipe / "conanfile.py").write_text(
        text.replace('test_package_folder = "packaging/test_package"', 'test_package_folder = "test_package"'), encoding="utf-8"
    )
    shutil.copytree(ROOT / "packaging" / "test_package", recipe / "test_package", dirs_exist_ok=True)
    print(f"conan_center: {folder}")


if __name__ == "__main__":
    main()
