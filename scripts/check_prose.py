#!/usr/bin/env python3
"""Checks the words of docs, help texts, log lines, errors and comments against docs/glossary.md.

    scripts/check_prose.py              # all files
    scripts/check_prose.py FILE...      # these files only
    scripts/check_prose.py --self-test

The section "Words to avoid" of the glossary is a table: words on the left, what to write instead on
the right. Each use is reported as FILE:LINE with the replacement, and the exit code is 1. Code spans
and code blocks of Markdown are not prose, and neither are strings of C++ without a space.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GLOSSARY = "docs/glossary.md"

# Modules whose comments are not rewritten yet. Their strings are checked. Rewrite the comments of a module, then
# remove it here.
COMMENTS_NOT_CONVERTED = (
    "src/base/", "src/cli/", "src/console/", "src/core/journal/", "src/core/store/",
    "src/dead_letters/archive/", "src/functions/", "src/observe/alarms/", "src/dead_letters/bin/",
    "src/dead_letters/damage/", "src/dead_letters/groups/", "src/dead_letters/jobs/", "src/dead_letters/lineage/",
    "src/dead_letters/policy/", "src/dead_letters/processed/", "src/dead_letters/view/", "src/dead_letters/dead_letters.",
)  # fmt: skip

MARKDOWN = (
    "*.md", "docs/**/*.md", "examples/*/README.md", "clients/README.md", "clients/*/README.md", "bench/README.md",
)  # fmt: skip
PLAIN = ("docs/openapi.yaml", "contrib/**/*.yml", "contrib/**/*.json")
CODE = ("src/**/*.cpp", "src/**/*.h")

# Strings and characters, so that // in them starts no comment; raw strings have no escapes.
TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<text>(?:[^"\\\n]|\\.)*)"'
    r"|(?<![\w'])'(?:[^'\\\n]|\\.)+'",
    re.DOTALL,
)


def avoided(glossary):
    """Pairs of a pattern and the replacement, from the glossary's last table."""
    section = glossary.split("## Words to avoid", 1)[1]
    rules = []
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 2 or not cells[0].startswith("`"):
            continue
        for phrase in re.findall(r"`([^`]+)`", cells[0]):
            words = r"\s+".join(re.escape(word) for word in phrase.split())
            rules.append((re.compile(rf"(?<![\w-]){words}(?![\w-])", re.IGNORECASE), cells[1]))
    assert rules, f"{GLOSSARY} has no table of words to avoid"
    return rules


def blanked(match):
    """The same number of lines, and no words."""
    return re.sub(r"[^\n]", " ", match[0])


def markdown_prose(text):
    text = re.sub(r"^```.*?^```", blanked, text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`\n]+`", blanked, text)
    text = re.sub(r"\]\([^)\s]*\)", blanked, text)
    return text.split("## Words to avoid", 1)[0]


def code_prose(text, comments):
    """Comments (if wanted) and strings of C++, everything else blank."""
    out = []
    end = 0
    for token in TOKEN.finditer(text):
        out.append(re.sub(r"[^\n]", " ", text[end : token.start()]))
        whole = token[0]
        if whole.startswith("/"):
            plain = re.sub(r"^(\s*)(//+|/\*|\*/|\*)", lambda m: " " * len(m[0]), whole, flags=re.MULTILINE)
            out.append(re.sub(r"`[^`\n]+`", blanked, plain) if comments else blanked(token))
        else:
            string = token["text"] if token["raw"] is None else token["raw"]
            is_prose = string is not None and " " in string.strip()
            out.append(whole.replace('"', " ") if is_prose else blanked(token))
        end = token.end()
    out.append(re.sub(r"[^\n]", " ", text[end:]))
    return "".join(out)


def prose(path, text, comments=None):
    if path.endswith(".md"):
        return markdown_prose(text)
    if path.endswith((".cpp", ".h")):
        if comments is None:
            comments = not path.startswith(COMMENTS_NOT_CONVERTED)
        return code_prose(text, comments)
    return text


def findings(path, text, rules, comments=None):
    found = []
    words = prose(path, text, comments)
    for pattern, replacement in rules:
        for match in pattern.finditer(words):
            line = words.count("\n", 0, match.start()) + 1
            found.append((line, f"{path}:{line}: '{' '.join(match[0].split())}'; write: {replacement}"))
    return [message for _, message in sorted(found)]


def chosen(names):
    if names:
        return [str(pathlib.Path(name).resolve().relative_to(ROOT)) for name in names]
    paths = {path for glob in MARKDOWN + PLAIN + CODE for path in ROOT.glob(glob) if path.is_file()}
    return sorted(str(path.relative_to(ROOT)) for path in paths)


def self_test():
    rules = avoided("## Words to avoid\n| `nobody`, `is told` | no client |\n| `room` | module |\n")
    bad = [
        ("a.md", "Nobody reads it.", 1),
        ("a.md", "It\nis\ntold so.", 2),
        ("a.md", "```\nnobody\n```\nA room.", 4),
        ("a.cpp", 'log("nobody is here");', 1),
        ("a.cpp", "int x;\n// The client is\n// told.", 2),
        ("a.cpp", "auto s = R\"(\nit is told)\";", 2),
    ]
    good = [
        ("a.md", "The rule `nobody-receives` and the word nobody-receives, in a mushroom."),
        ("a.md", "```sh\nnobody is told\n```"),
        ("a.cpp", 'user("nobody"); int room = 1;'),
        ("a.cpp", "// The user `nobody` is one of the system's."),
        ("a.cpp", "const char quote = '\"'; // Fine. \"\nint nobody;"),
    ]
    for path, text, line in bad:
        found = findings(path, text, rules)
        assert found and found[0].startswith(f"{path}:{line}: "), (path, text, found)
    for path, text in good:
        assert not findings(path, text, rules), (path, text, findings(path, text, rules))
    # Of a module that is not converted only strings are checked.
    assert not findings("a.cpp", "// Nobody checks this.", rules, comments=False)
    assert findings("a.cpp", 'f("nobody is here");', rules, comments=False)
    print("self-test passed")


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    rules = avoided((ROOT / GLOSSARY).read_text())
    found = [line for path in chosen(arguments) for line in findings(path, (ROOT / path).read_text(), rules)]
    for line in found:
        print(line)
    print(f"{len(found)} words to avoid" if found else "no words to avoid")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
