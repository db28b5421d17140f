#!/usr/bin/env python3
"""Runs clang-tidy 19 with the checks of .clang-tidy.

    scripts/tidy.py                 # src/ and sim/, by the compile commands of build/dev
    scripts/tidy.py --changed       # only .cpp files that differ from the main branch, by those of build/ide
    scripts/tidy.py FILE...         # these .cpp files, by those of build/ide

All files are checked as they are compiled together in the dev build (unity), so that headers are read once
for twenty files; some files are checked one by one, which needs no clang. What passed is remembered in build/tidy and checked again only after a change of its
files, of a header or of the checks. Without clang-tidy-19 the script says so and passes.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from quick import changed_files  # noqa: E402

TIDY = "clang-tidy-19"
PASSED = ROOT / "build" / "tidy"
INCLUDE = re.compile(r'^#include "(/[^"]+)"', re.MULTILINE)
# Precompiled headers need not exist when this runs.
PRECOMPILED = re.compile(
    r" -Xclang -include-pch -Xclang \S+| -Xclang -include -Xclang \S+| -Winvalid-pch| -Xclang -fno-pch-timestamp")


class Unit:
    """What one compiler call reads: a file, or several that are compiled together."""

    def __init__(self, entry: dict):
        self.path = pathlib.Path(entry["file"])
        self.directory = entry["directory"]
        self.command = PRECOMPILED.sub("", entry["command"])

    def files(self) -> list[pathlib.Path]:
        if "/Unity/" not in self.path.as_posix():
            return [self.path]
        return [pathlib.Path(name) for name in INCLUDE.findall(self.path.read_text())]

    def is_ours(self) -> bool:
        return any(file.is_relative_to(ROOT / folder) for file in self.files() for folder in ("src", "sim"))


def units(preset: str) -> list[Unit]:
    database = ROOT / "build" / preset / "compile_commands.json"
    if not database.exists():
        subprocess.run(["cmake", "--preset", preset], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return [unit for unit in map(Unit, json.loads(database.read_text())) if unit.is_ours()]


def digest(paths) -> str:
    total = hashlib.sha256()
    for path in sorted(paths):
        total.update(str(path).encode() + b"\0" + path.read_bytes())
    return total.hexdigest()


def headers() -> str:
    return digest([ROOT / ".clang-tidy", *(ROOT / "src").rglob("*.h"), *(ROOT / "sim").rglob("*.h")])


def check(unit: Unit, common: str) -> str | None:
    """The findings, or None."""
    mark = PASSED / hashlib.sha256(str(unit.path).encode()).hexdigest()[:16]
    state = f"{common} {digest(unit.files())} {hashlib.sha256(unit.command.encode()).hexdigest()}\n"
    if mark.exists() and mark.read_text() == state:
        return None
    arguments = unit.command.split()
    compiler = next(i for i, word in enumerate(arguments) if re.search(r"[+][+](-\d+)?$", word))
    done = subprocess.run(
        [TIDY, "--quiet", str(unit.path), "--", *arguments[compiler + 1 :]],
        cwd=unit.directory, capture_output=True, text=True)  # fmt: skip
    if done.returncode == 0:
        mark.write_text(state)
        return None
    return done.stdout + "\n".join(line for line in done.stderr.splitlines() if "warnings generated" not in line)


def changed_sources() -> list[str]:
    names = {name for name in changed_files() if name.endswith(".cpp") and name.startswith(("src/", "sim/"))}
    return sorted(str(ROOT / name) for name in names)


def single_units(names: list[str]) -> list[Unit]:
    wanted = {pathlib.Path(name).resolve() for name in names}
    return [unit for unit in units("ide") if unit.path.resolve() in wanted] if wanted else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    if shutil.which(TIDY) is None:
        print(f"skipped: {TIDY} is not installed")
        return 0
    PASSED.mkdir(parents=True, exist_ok=True)
    names = changed_sources() if options.changed else options.files
    chosen = single_units(names) if names or options.changed else units("dev")
    common = headers()
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count() or 1))) as pool:
        found = [text for text in pool.map(lambda unit: check(unit, common), chosen) if text]
    print("\n".join(found) if found else f"{TIDY} has nothing to say about {len(chosen)} compiler calls")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
