#!/usr/bin/env python3
"""Holds the house to its plan: a room includes only the rooms named in its line here.

The table repeats ARCHITECTURE.md ("Rooms"); every room may also use `base` and itself.
"""
import pathlib
import re
import sys

KNOWS = {
    "base": [],
    "metrics": [],
    "queue": [],
    "journal": [],
    "store": ["queue", "journal"],
    "engine": ["queue", "journal", "store", "dead_letter"],
    "dead_letter": [],
    "topology": [],
    "wire": [],
    "events": ["functions", "wire"],
    "sqs": ["wire"],
    "auth": [],
    "http": ["metrics"],
    "runtime": ["wire", "http"],
    "api": ["metrics", "functions", "queue", "store", "engine", "dead_letter", "sqs", "wire", "auth", "http"],
    "documents": ["wire", "sqs"],
    "manage": ["metrics", "alarms", "documents", "dead_letter", "queue", "store", "engine", "sqs", "wire", "auth", "http", "api"],
    "objects": [],
    "s3": ["objects", "wire", "auth", "http", "api"],
    "iam": ["engine", "queue", "sqs", "wire", "auth", "http", "api"],
    "stack": [],
    "archive": ["objects", "wire", "auth", "http"],
    "traces": ["wire", "http"],
    "functions": ["wire"],
    "packages": [],
    "dispatch": ["metrics", "queue", "store", "engine", "functions", "events", "runtime", "objects", "http"],
    "lambda": ["functions", "packages", "runtime", "events", "documents", "objects", "queue", "engine", "dead_letter",
               "wire", "auth", "http", "api"],
    "monitor": ["metrics", "queue", "journal", "store", "engine", "runtime", "sqs", "wire", "auth", "http", "api"],
    "alarms": ["metrics", "queue", "store", "engine", "dead_letter", "wire", "http"],
    "cloudwatch": ["alarms", "metrics", "queue", "store", "engine", "sqs", "wire", "auth", "http", "api"],
    "cli": ["packages", "events", "documents", "archive", "dead_letter", "topology", "stack", "sqs", "wire", "auth", "http"],
    "server": None,  # The one place that knows everything.
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z_0-9]+)/')


def main() -> int:
    root = pathlib.Path(sys.argv[1]) / "src"
    faults = []
    for folder in sorted(p for p in root.iterdir() if p.is_dir()):
        room = folder.name
        if room not in KNOWS:
            faults.append(f"src/{room}: a room without a line in scripts/check_rooms.py")
            continue
        allowed = KNOWS[room]
        if allowed is None:
            continue
        for path in sorted(folder.rglob("*.[ch]*")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                found = INCLUDE.match(line)
                if found and found[1] not in {room, "base", *allowed}:
                    faults.append(f"{path.relative_to(root.parent)}:{number}: {room} must not know {found[1]}")
    print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
    return 1 if faults else 0


sys.exit(main())
