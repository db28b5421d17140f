#!/usr/bin/env python3
"""Checks the includes of src/ against the dependencies that CMakeLists.txt declares.

The `module(...)` lines of CMakeLists.txt are the only table of dependencies. This script fails when
a module includes a module that its line does not name, when a line names a module that is never
included, and when the table of ARCHITECTURE.md differs. `--write` brings that table up to date.
"""
import argparse
import pathlib
import re
import sys

MODULE = re.compile(r"^module\(([^)]*)\)", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
ROW = re.compile(r"^\| `([a-z_0-9/]+)` \| ([^|]*) \|", re.MULTILINE)
IMPORT = re.compile(r"""(?:from|import|import\()\s*["'](\.[^"']+)["']""")
# The folders of the console. Views call functions of api through the hooks of state (useResource, useTask).
WEB_USES = {
    "model": [],
    "api": ["model"],
    "state": ["api", "model"],
    "ui": ["model"],
    "views": ["state", "ui", "api", "model"],
    "styles": ["ui", "views"],
}
SOURCES = {".h", ".cpp", ".in"}


def read_modules(cmake: str) -> dict[str, list[str]]:
    """Maps each module's path to the modules it may use, in the order of declaration."""
    modules = {}
    for call in MODULE.findall(cmake):
        path, *words = call.split()
        keyword, uses = None, []
        for word in words:
            if word in ("NAME", "USES", "LIBRARIES"):
                keyword = word
            elif keyword == "USES":
                uses.append(word)
        modules[path] = uses
    return modules


def module_of(path: str, modules: dict[str, list[str]]) -> str | None:
    for parent in pathlib.PurePosixPath(path).parents:
        if str(parent) in modules:
            return str(parent)
    return None


def check_includes(source: pathlib.Path, modules: dict[str, list[str]]) -> list[str]:
    faults = []
    used = {name: set() for name in modules}
    for path in sorted(p for p in source.rglob("*") if p.suffix in SOURCES):
        place = path.relative_to(source).as_posix()
        module = module_of(place, modules)
        if module is None:
            faults.append(f"src/{place}: belongs to no module(...) of CMakeLists.txt")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            target = module_of(found[1], modules) if found else None
            if target is None or target == module:
                continue
            used[module].add(target)
            if target not in {"base", *modules[module]}:
                faults.append(f"src/{place}:{number}: {module} must not use {target}")
    for module, uses in modules.items():
        for target in uses:
            if target not in used[module]:
                faults.append(f"CMakeLists.txt: {module} declares USES {target} but never includes it")
    return faults


def check_web(root: pathlib.Path) -> list[str]:
    """Checks the imports between the folders of web/src; main.tsx may import all of them."""
    faults = []
    for path in sorted(root.rglob("*.ts*")):
        folder = path.relative_to(root).parts[0]
        if folder not in WEB_USES:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for target in IMPORT.findall(line):
                other = (path.parent / target).resolve().relative_to(root.resolve()).parts[0]
                if other != folder and other not in WEB_USES[folder]:
                    faults.append(f"web/src/{path.relative_to(root)}:{number}: {folder} must not use {other}")
    return faults


def uses_text(uses: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(uses)) or "–"


def updated_table(text: str, modules: dict[str, list[str]]) -> str:
    def row(match: re.Match) -> str:
        if match[1] not in modules:
            return match[0]
        return f"| `{match[1]}` | {uses_text(modules[match[1]])} |"

    return ROW.sub(row, text)


def check_table(text: str, modules: dict[str, list[str]]) -> list[str]:
    rows = {match[1] for match in ROW.finditer(text)}
    faults = [f"ARCHITECTURE.md: no row for module {name}" for name in modules if name not in rows]
    if updated_table(text, modules) != text:
        faults.append("ARCHITECTURE.md: dependencies differ from CMakeLists.txt; run scripts/check_modules.py --write")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).parent.parent, type=pathlib.Path)
    parser.add_argument("--write", action="store_true", help="bring the table of ARCHITECTURE.md up to date")
    options = parser.parse_args()
    modules = read_modules((options.root / "CMakeLists.txt").read_text())
    page = options.root / "ARCHITECTURE.md"
    if options.write:
        page.write_text(updated_table(page.read_text(), modules))
    faults = check_includes(options.root / "src", modules) + check_table(page.read_text(), modules)
    faults += check_web(options.root / "web" / "src")
    print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
