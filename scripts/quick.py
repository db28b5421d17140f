#!/usr/bin/env python3
"""Unit tests of the modules that differ from the main branch.

    scripts/quick.py            # builds and runs them
    scripts/quick.py --list     # prints their names

Uses the release build (g++), which most contributors have anyway. A module without tests of its own is tested
by the programs that name it, or the module above it, in DEPENDS. Modules that use a changed one are not
tested; `make unit` runs everything.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from check_modules import module_of, read_modules  # noqa: E402

TESTS = re.compile(r"^module_tests\(([^)]*)\)", re.MULTILINE)


def test_programs(cmake: str) -> dict[str, tuple[str, list[str]]]:
    """Maps the folders of tests to their programs and the libraries that these name."""
    programs = {}
    for call in TESTS.findall(cmake):
        path, *words = call.split()
        lists, keyword = {"NAME": [], "DEPENDS": [], "LABELS": []}, None
        for word in words:
            if word in lists:
                keyword = word
            else:
                lists[keyword].append(word)
        name = lists["NAME"][0] if lists["NAME"] else path.split("/")[-1]
        programs[path] = (f"{name}_test", lists["DEPENDS"])
    return programs


def above(path: str) -> list[str]:
    """The path, then the folders that contain it."""
    return [path, *(str(parent) for parent in pathlib.PurePosixPath(path).parents)]


def folders_for(module: str, programs) -> set[str]:
    for folder in above(module):
        if folder in programs:
            return {folder}
        library = folder.split("/")[-1]
        if named := {path for path, (_, depends) in programs.items() if library in depends}:
            return named
    return set()


def chosen(changed: list[str], modules: dict[str, list[str]], programs) -> list[str]:
    """The test programs for changed files, in the order of tests/CMakeLists.txt."""
    folders = set()
    for name in changed:
        top, _, rest = name.partition("/")
        if top == "src" and (module := module_of(rest, modules)):
            folders |= folders_for(module, programs)
        elif top == "tests":
            folders |= {folder for folder in above(rest) if folder in programs}
    return [program for folder, (program, _) in programs.items() if folder in folders]


def changed_files() -> list[str]:
    """Files that differ from the main branch, committed or not."""

    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()

    base = git("merge-base", "HEAD", "main") or git("merge-base", "HEAD", "origin/main") or ["HEAD"]
    return git("diff", "--name-only", base[0]) + git("ls-files", "-o", "--exclude-standard")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    modules = read_modules((ROOT / "CMakeLists.txt").read_text())
    programs = chosen(changed_files(), modules, test_programs((ROOT / "tests" / "CMakeLists.txt").read_text()))
    if options.list or not programs:
        print("\n".join(programs) if programs else "no module with unit tests has changed")
        return 0
    build = ROOT / "build" / "release"
    if subprocess.run(["ninja", "-C", build, "--quiet", *programs]).returncode:
        return 1
    failed = [one for one in programs if subprocess.run([build / one, "--gtest_brief=1"], cwd=build).returncode]
    print(f"failed: {' '.join(failed)}" if failed else f"passed: {' '.join(programs)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
