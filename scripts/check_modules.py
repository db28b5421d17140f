#!/usr/bin/env python3
"""Checks the includes of src/ against the dependencies that CMakeLists.txt declares.

The `module(...)` lines of CMakeLists.txt are the only table of dependencies. This script fails when
a module includes a module that its line does not name, when a line names a module that is never
included, and when the table of ARCHITECTURE.md differs. `--write` brings that table up to date.

It also fails when a module outside of FACT_MODULES makes or commits facts (core/queue/change.h), and
when a module includes simdjson without linking it: simdjson's types have another layout then.
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
# The modules that decide what is recorded. The others call them, or core/catalogue.
FACT_MODULES = ("core/", "dead_letters")
FACT_LIST = re.compile(r"using AllFacts = FactList<(.*?)>;", re.DOTALL)
COMMIT = re.compile(r"\bturn_?\.commit\(")
SIMDJSON = re.compile(r"^\s*#\s*include\s+<simdjson\.h>", re.MULTILINE)


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


def read_libraries(cmake: str) -> dict[str, list[str]]:
    """Maps each module's path to the libraries that its line names."""
    libraries = {}
    for call in MODULE.findall(cmake):
        path, *words = call.split()
        libraries[path] = words[words.index("LIBRARIES") + 1 :] if "LIBRARIES" in words else []
    return libraries


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


def check_facts(source: pathlib.Path, modules: dict[str, list[str]]) -> list[str]:
    """Facts are made in few modules, so that the rules about them are found there."""
    listed = FACT_LIST.search((source / "core/queue/change.h").read_text())
    facts = re.compile(r"\bqueue::(Change|" + "|".join(re.findall(r"\w+", listed[1])) + r")\b")
    faults = []
    for path in sorted(p for p in source.rglob("*") if p.suffix in SOURCES):
        place = path.relative_to(source).as_posix()
        module = module_of(place, modules)
        if module is None or module.startswith(FACT_MODULES):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code = line.split("//")[0]
            if facts.search(code) or COMMIT.search(code):
                faults.append(f"src/{place}:{number}: {module} must not make facts; use core/catalogue or dead_letters")
    return faults


def check_simdjson(source: pathlib.Path, libraries: dict[str, list[str]]) -> list[str]:
    faults = []
    for path in sorted(p for p in source.rglob("*") if p.suffix in SOURCES):
        place = path.relative_to(source).as_posix()
        module = module_of(place, libraries)
        if module is None or "simdjson::simdjson" in libraries[module]:
            continue
        if SIMDJSON.search(path.read_text()):
            faults.append(f"src/{place}: {module} includes simdjson but its module(...) does not link simdjson::simdjson")
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
    cmake = (options.root / "CMakeLists.txt").read_text()
    modules = read_modules(cmake)
    page = options.root / "ARCHITECTURE.md"
    if options.write:
        page.write_text(updated_table(page.read_text(), modules))
    faults = check_includes(options.root / "src", modules) + check_table(page.read_text(), modules)
    faults += check_facts(options.root / "src", modules)
    faults += check_simdjson(options.root / "src", read_libraries(cmake))
    faults += check_web(options.root / "web" / "src")
    print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
