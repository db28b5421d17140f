"""docs/conformance.md names every action and attribute there is, and only tests that exist."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs/conformance.md").read_text()
TABLE_CELLS = {
    name.strip()
    for line in DOCUMENT.splitlines()
    if line.startswith("| ")
    for name in line.split("|")[1].split(",")
}


def names_in(path, pattern):
    found = re.findall(pattern, (ROOT / path).read_text())
    assert found, f"{path}: nothing looks like {pattern}"
    return set(found)


def test_every_action_is_listed():
    actions = names_in("src/aws/sqs/model/actions.h", r'kName = "(\w+)"')
    assert len(actions) == 23
    assert actions <= TABLE_CELLS


def test_every_queue_attribute_is_listed():
    settable = names_in("src/aws/sqs/queue_attributes.cpp", r'if \(name == "(\w+)"\)')
    reported = names_in("src/aws/sqs/queues.cpp", r'if \(name == "(\w+)"\)')
    assert settable | reported <= TABLE_CELLS


def test_every_system_attribute_is_listed():
    text = (ROOT / "src/aws/sqs/receive_message.cpp").read_text()
    names = set(re.findall(r'"(\w+)"', re.search(r"kSystemAttributes = \{(.*?)\}", text, re.S)[1]))
    assert len(names) == 9
    assert names <= TABLE_CELLS


def test_what_is_named_exists():
    named = set(re.findall(r"`([\w./-]+\.(?:py|mjs|cpp))(?:::(\w+))?`", DOCUMENT))
    assert len(named) > 50
    assert sorted(each for each in named if not exists(*each)) == []


def exists(path, test):
    folders = [ROOT, ROOT / "tests/conformance", ROOT / "tests/conformance/node"]
    files = [folder / path for folder in folders if (folder / path).exists()]
    return len(files) == 1 and (not test or f"def {test}(" in files[0].read_text())
