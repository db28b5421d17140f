#!/usr/bin/env python3
"""Checks that what the documentation refers to exists.

    scripts/check_links.py              # all pages
    scripts/check_links.py FILE...      # these pages only

Checked are relative links and images, their #headings, and paths such as `src/core/queue/receive.cpp` in
the text, with or without `code` marks; * and {a,b} in them are patterns. A link from a name in code marks
to a source file, such as [`Engine::take`](src/core/engine/engine.cpp), says that the file contains the
name, and so does a path with a name behind a #: `src/core/queue/receive.cpp#decide_receive`. Code blocks
are not checked. Each fault is reported as FILE:LINE, and the exit code is 1.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = (
    "*.md", "docs/**/*.md", "examples/*/README.md", "clients/README.md", "clients/*/README.md", "bench/README.md",
    ".github/**/*.md",
)  # fmt: skip
FOLDERS = "src|tests|docs|scripts|cmake|sim|fuzz|bench|examples|clients|contrib|web"
SOURCES = {".h", ".cpp", ".in", ".py", ".sh", ".ts", ".tsx", ".mjs"}

LINK = re.compile(r"(?<!\\)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
NAME = re.compile(r"`([A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)*)(?:\(\))?`")
# Paths have an ending, or are written as folders. What is in < > or has … stands for something else.
PATH = re.compile(
    rf"(?<![\w./:<-])(?P<path>(?:{FOLDERS})/[\w./*{{}},-]*[\w*}}/])(?:#(?P<name>[\w:~]+))?(?![\w…<$])")


def blanked(match: re.Match) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def without_blocks(text: str) -> str:
    text = re.sub(r"^```.*?^```", blanked, text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^    .*$", blanked, text, flags=re.MULTILINE)


def anchors(page: str) -> set[str]:
    """The #anchors that GitHub gives the headings of a page, and those of its HTML."""
    found, seen = set(re.findall(r'(?:id|name)="([^"]+)"', page)), {}
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", without_blocks(page), flags=re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        number = seen.get(slug, 0)
        seen[slug] = number + 1
        found.add(f"{slug}-{number}" if number else slug)
    return found


def alternatives(pattern: str) -> list[str]:
    """src/a.{h,cpp} as src/a.h and src/a.cpp."""
    found = re.search(r"\{([^{}]*)\}", pattern)
    if not found:
        return [pattern]
    before, after = pattern[: found.start()], pattern[found.end() :]
    return [whole for part in found[1].split(",") for whole in alternatives(before + part + after)]


def has_name(text: str, name: str) -> bool:
    return all(re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) for part in name.split("::"))


class Tree:
    """The files of the project."""

    def __init__(self, root: pathlib.Path):
        self.root = root.resolve()

    def resolve(self, page: str, target: str) -> pathlib.Path:
        return (self.root / page).parent.joinpath(target).resolve()

    def has(self, pattern: str) -> bool:
        return all(
            any(self.root.glob(one)) if "*" in one else (self.root / one).exists() for one in alternatives(pattern))


def link_fault(tree: Tree, page: str, link: re.Match) -> str | None:
    target, _, anchor = link["target"].partition("#")
    if re.match(r"[a-z][a-z0-9+.-]*:", target):
        return None
    path = tree.resolve(page, target) if target else tree.root / page
    if not path.exists():
        return f"{link['target']} does not exist"
    if anchor and path.suffix == ".md" and anchor not in anchors(path.read_text()):
        return f"{link['target']}: there is no such heading"
    name = NAME.fullmatch(link["text"])
    names = [name[1]] if name else []
    if anchor and path.suffix in SOURCES:
        names.append(anchor)
    if path.suffix in SOURCES:
        for one in names:
            if not has_name(path.read_text(), one):
                return f"{target} does not contain {one}"
    return None


def path_fault(tree: Tree, found: re.Match) -> str | None:
    path = found["path"].rstrip("/,")
    if not tree.has(path):
        return f"{path} does not exist"
    if found["name"] and not has_name((tree.root / path).read_text(), found["name"]):
        return f"{path} does not contain {found['name']}"
    return None


def faults(tree: Tree, page: str, text: str) -> list[str]:
    text = without_blocks(text)
    found = [(link.start(), link_fault(tree, page, link)) for link in LINK.finditer(text)]
    prose = re.sub(r"https?://[^\s)]+", blanked, LINK.sub(blanked, text))
    found += [(path.start(), path_fault(tree, path)) for path in PATH.finditer(prose)]
    return [f"{page}:{text.count(chr(10), 0, at) + 1}: {fault}" for at, fault in sorted(found) if fault]


def main(names: list[str]) -> int:
    pages = {path for glob in PAGES for path in ROOT.glob(glob)}
    if names:
        pages = {pathlib.Path(name).resolve() for name in names}
    tree = Tree(ROOT)
    found = []
    for path in sorted(pages):
        found += faults(tree, path.relative_to(ROOT).as_posix(), path.read_text())
    print("\n".join(found) if found else f"the links of {len(pages)} pages lead somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
