# SPDX-License-Identifier: BSL-1.0
"""What mkdocs.yml hooks into MkDocs: the site has the repository's own paths.

Pages stay where they are and link as they do in the repository. A source that a page links to becomes a page that shows it, a folder
one that lists it. Nothing is loaded from another host.
"""

import pathlib
import posixpath
import re

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, InclusionLevel

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["README.md", "CHANGELOG.md", "tests/README.md"]
LINK = re.compile(r"\]\(([^()\s#]+)")
FROM_ELSEWHERE = re.compile(r'<(?:script|link|img|iframe)\b[^>]*(?:src|href)="(https?:[^"]*)"')
LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".py": "python", ".cmake": "cmake"}

shown = {}  # path in the repository: path of the page that shows it


def show(config, path):
    """The page that shows a source or a folder."""
    if (ROOT / path).is_dir():
        names = sorted(entry.name for entry in (ROOT / path).iterdir() if entry.is_file())
        text = "\n".join(f"- [{name}]({name})" for name in names)
        shown[path] = f"{path}/index.md"
    else:
        language = LANGUAGES.get(pathlib.PurePath(path).suffix, "text")
        text = f"~~~~~~ {language}\n{(ROOT / path).read_text(encoding='utf-8')}\n~~~~~~"
        shown[path] = f"{path}.md"
    content = f"---\ntitle: {path}\nsearch: {{exclude: true}}\n---\n\n# {path}\n\n{text}\n"
    page = File.generated(config, shown[path], content=content)
    page.inclusion = InclusionLevel.NOT_IN_NAV
    return page


def target_of(page, link):
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), link))


def on_files(files, config):
    for file in list(files):
        if file.src_dir == config.docs_dir:
            files.remove(file)
    here = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*")) if path.suffix in (".md", ".svg")]
    for path in PAGES + here:
        files.append(File(path, str(ROOT), config.site_dir, config.use_directory_urls))
    pages = list(files.documentation_pages())
    while pages:
        page = pages.pop()
        for link in LINK.findall(page.content_string):
            path = target_of(page.src_uri, link)
            if path not in shown and (ROOT / path).exists() and files.get_file_from_path(path) is None:
                pages.append(show(config, path))
                files.append(pages[-1])
    return files


def on_page_markdown(markdown, page, config, files):
    def replaced(link):
        path = target_of(page.file.src_uri, link[1])
        return f"]({posixpath.relpath(shown[path], posixpath.dirname(page.file.src_uri))}" if path in shown else link[0]

    return LINK.sub(replaced, markdown)


def on_post_page(output, page, config):
    if loaded := FROM_ELSEWHERE.search(output):
        raise PluginError(f"{page.file.src_uri}: the site would load {loaded[1]}")
