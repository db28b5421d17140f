#!/usr/bin/env python3
"""Mutation testing: wrong edits that the tests must notice.

tests/mutants/*.toml lists small wrong edits (mutants) and, for each, the check that must fail with it.
All of them are compiled into one build of a copy of the tree, each behind a switch, so that the
environment variable REDRIVE_MUTANT turns on one at a time. See HACKING.md, "Mutants".
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutants"
COPY = WORK / "src"
BUILD = WORK / "build"
VERDICTS = WORK / "verdicts.json"  # A line for each mutant that was judged since the last build.
KILLED_AT_LEAST = 95  # Percent.
MUTANTS_AT_LEAST = 150

SWITCH = """#pragma once
#include <cstdlib>
namespace redrive {
inline bool mutant(int number) {
  static const int active = [] {
    const char* const text = std::getenv("REDRIVE_MUTANT");
    return text == nullptr ? 0 : std::atoi(text);
  }();
  return active == number;
}
}  // namespace redrive
"""


class ListError(Exception):
    """The list and the code do not fit together."""


def load():
    mutants = []
    for path in sorted((ROOT / "tests" / "mutants").glob("*.toml")):
        for entry in tomllib.loads(path.read_text())["mutant"]:
            entry["area"] = path.stem
            unknown = set(entry) - {"id", "file", "find", "replace", "kill", "survives", "area"}
            if unknown or not {"id", "file", "find", "replace"} <= set(entry):
                raise ListError(f"{path.name}: {entry.get('id')}: unknown or missing fields {sorted(unknown)}")
            if ("kill" in entry) == ("survives" in entry):
                raise ListError(f"{path.name}: {entry['id']}: needs either `kill` or `survives`")
            entry["number"] = len(mutants) + 1
            mutants.append(entry)
    ids = [mutant["id"] for mutant in mutants]
    twice = {name for name in ids if ids.count(name) > 1}
    if twice:
        raise ListError(f"ids are used twice: {', '.join(sorted(twice))}")
    return mutants


def place_of(mutant, text):
    """Where the text to replace is: from, to. «» marks the part of `find` that is replaced."""
    find = mutant["find"]
    before, marked, rest = find.partition("«")
    inner, closed, after = rest.partition("»")
    if not marked:
        before, inner, after = "", find, ""
    elif not closed:
        raise ListError(f"{mutant['id']}: « without »")
    count = text.count(before + inner + after)
    if count != 1:
        raise ListError(f"{mutant['id']}: the text is {count} times in {mutant['file']}, not once: {find!r}")
    if not mutant["replace"] and not is_statement(inner):
        raise ListError(f"{mutant['id']}: only statements can be removed; mark a whole expression: {find!r}")
    start = text.index(before + inner + after) + len(before)
    return start, start + len(inner)


def is_statement(text):
    return text.rstrip().endswith((";", "}"))


def guarded(mutants, original):
    """The original, with each of these mutants behind its switch."""
    for mutant in reversed(mutants):
        condition = f"::redrive::mutant({mutant['number']})"
        replacement = mutant["replace"]
        if is_statement(original):
            original = f"if ({condition}) {{ {replacement} }} else {{ {original} }}"
        elif replacement in ("true", "false"):
            original = f"({condition} ? {replacement} : static_cast<bool>({original}))"
        else:
            original = f"({condition} ? ({replacement}) : ({original}))"
    return original


def rewrite(name, mutants, text):
    places, errors = {}, []
    for mutant in mutants:
        try:
            places.setdefault(place_of(mutant, text), []).append(mutant)
        except ListError as error:
            errors.append(str(error))
    if errors:
        raise ListError("\n".join(errors))
    ordered = sorted(places)
    for one, other in zip(ordered, ordered[1:]):
        if other[0] < one[1]:
            raise ListError(f"{name}: {places[one][0]['id']} and {places[other][0]['id']} overlap")
    for start, end in reversed(ordered):
        lines = text[start:end].count("\n")
        changed = guarded(places[start, end], text[start:end])
        text = text[:start] + changed + "\n" * max(0, lines - changed.count("\n")) + text[end:]
    return text


def mutated_tree(mutants):
    """The files of the tree as git knows them, with the mutants in them."""
    by_file = {}
    for mutant in mutants:
        by_file.setdefault(mutant["file"], []).append(mutant)
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split("\n")
    wanted = {name for name in listed if name and (ROOT / name).is_file()}
    missing = set(by_file) - wanted
    if missing:
        raise ListError(f"there is no such file: {', '.join(sorted(missing))}")
    errors = []
    contents = {}
    for name in sorted(wanted):
        data = (ROOT / name).read_bytes()
        if name in by_file:
            try:
                data = rewrite(name, by_file[name], data.decode()).encode()
            except ListError as error:
                errors.append(str(error))
        contents[name] = data
    if errors:
        raise ListError("\n".join(errors))
    contents["mutant_switch.h"] = SWITCH.encode()
    return contents


def write_copy(contents):
    """Files that are as they were keep their time, so that only what changed is built again."""
    for name, data in contents.items():
        target = COPY / name
        if target.exists() and target.read_bytes() == data:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        target.chmod((ROOT / name).stat().st_mode & 0o777 if (ROOT / name).exists() else 0o644)
    for old in COPY.rglob("*"):
        if old.is_file() and str(old.relative_to(COPY)) not in contents:
            old.unlink()


def build(mutants, jobs):
    if not (BUILD / "build.ninja").exists():
        subprocess.run(["cmake", "-S", COPY, "-B", BUILD, "-G", "Ninja", "-DCMAKE_CXX_COMPILER=clang++-19",
                        "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 -g0",
                        f"-DCMAKE_CXX_FLAGS=-w -include {COPY}/mutant_switch.h"],
                       check=True, stdout=subprocess.DEVNULL)
    programs = sorted({shlex.split(mutant["kill"])[0] for mutant in mutants if "kill" in mutant})
    subprocess.run(["ninja", "-j", str(jobs), "-C", BUILD, "--quiet", "-k", "0", *programs], check=True)


def command_of(kill):
    """`queue_test Mailbox.*`: a test program and a filter; or a command as it is."""
    program, *rest = shlex.split(kill)
    if program.endswith("_test"):
        rest = ["--gtest_brief=1", "--gtest_fail_fast", "--gtest_filter=" + ":".join(rest or ["*"])]
    return [str(BUILD / program), *rest]


def run(kill, number, timeout):
    """How the check ended: its status (None: it took too long), and the end of what it said."""
    environment = dict(os.environ, REDRIVE_MUTANT=str(number))
    try:
        done = subprocess.run(command_of(kill), env=environment, timeout=timeout, cwd=WORK,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        return None, "too long"
    return done.returncode, done.stdout.decode(errors="replace")[-4000:]


def check_baseline(kills, pool):
    """Without a mutant every check passes, and none is empty. How long each took, and what those said that failed."""
    def one(kill):
        began = time.monotonic()
        status, said = run(kill, 0, 600)
        return kill, status, said, time.monotonic() - began
    times, failed = {}, {}
    for kill, status, said, took in pool.map(one, kills):
        times[kill] = took
        empty = re.search(r"\[  PASSED  \] 0 tests", said) is not None
        if status != 0 or empty:
            failed[kill] = f"{kill}: {'runs no test' if empty else f'exit status {status}'}\n{said[-1500:]}"
            print("fails without a mutant: " + failed[kill], flush=True)
    return times, failed


def known_verdicts(options):
    """The mutants that an interrupted run killed; empty unless it is to be continued."""
    if not options.resume or not VERDICTS.exists():
        VERDICTS.unlink(missing_ok=True)
        return {}
    lines = [json.loads(line) for line in VERDICTS.read_text().splitlines()]
    return {line["id"]: line["verdict"] for line in lines if line["verdict"] == "killed"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="TEXT", help="only mutants whose id or area contains this")
    parser.add_argument("--check", action="store_true", help="only see whether the list fits the code")
    parser.add_argument("--build-only", action="store_true", help="only build")
    parser.add_argument("--no-build", action="store_true", help="use what was built last")
    parser.add_argument("--resume", action="store_true", help="do not judge again what the last run killed")
    parser.add_argument("--minutes", type=float, default=0, help="begin no check after this time; go on with --resume")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    deadline = time.monotonic() + options.minutes * 60 if options.minutes else float("inf")
    try:
        mutants = load()
        contents = mutated_tree(mutants)
    except ListError as error:
        sys.exit(f"tests/mutants: {error}")
    if options.check:
        print(f"{len(mutants)} mutants fit the code")
        return
    if not options.no_build:
        write_copy(contents)
        build(mutants, options.jobs)
    if options.build_only:
        return
    chosen = [m for m in mutants if not options.only or options.only in m["id"] or options.only in m["area"]]
    known = known_verdicts(options)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, VERDICTS.open("a") as verdicts:
        open_ones = [m for m in chosen if "kill" in m and m["id"] not in known]
        times, failed = check_baseline(sorted({m["kill"] for m in open_ones}), pool)

        def judge(mutant):
            if "survives" in mutant:
                return mutant, "survives", mutant["survives"]
            if mutant["id"] in known:
                return mutant, known[mutant["id"]], ""
            if time.monotonic() > deadline or mutant["kill"] in failed:
                return mutant, "not run", ""
            status, said = run(mutant["kill"], mutant["number"], 30 + 10 * times[mutant["kill"]])
            return mutant, "SURVIVED" if status == 0 else "killed", said
        survivors, unexpected, killed, left = [], [], 0, 0
        for mutant, verdict, said in pool.map(judge, chosen):
            if verdict == "not run":
                left += 1
                continue
            print(f"{mutant['area']:12} {mutant['id']:44} {verdict:9} {mutant.get('kill', said)}", flush=True)
            verdicts.write(json.dumps({"id": mutant["id"], "verdict": verdict}) + "\n")
            verdicts.flush()
            killed += verdict == "killed"
            if verdict == "survives":
                survivors.append(mutant)
            elif verdict == "SURVIVED":
                unexpected.append(mutant)
    if failed:
        sys.exit("Without a mutant these checks fail:\n" + "\n".join(failed.values()))
    if left:
        sys.exit(f"\n{killed} killed, {left} not run yet: go on with --no-build --resume")
    print(f"\n{killed} killed, {len(chosen) - killed} survived")
    for mutant in survivors:
        print(f"  {mutant['id']}: {mutant['survives']}")
    for mutant in unexpected:
        print(f"  {mutant['id']}: NOT EXPECTED: {mutant['kill']} passes with it")
    enough = options.only or (len(mutants) >= MUTANTS_AT_LEAST and killed * 100 >= KILLED_AT_LEAST * len(chosen))
    if unexpected or not enough:
        sys.exit(1)


if __name__ == "__main__":
    main()
