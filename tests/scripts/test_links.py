"""What scripts/check_links.py accepts and what it reports."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import check_links  # noqa: E402

FILES = {
    "README.md": "# Title\n## Two words, and `code`\n## Again\n## Again\n",
    "docs/page.md": "# Page\n",
    "src/core/engine.cpp": "void Engine::take() { decide_receive(); }\n",
    "tests/engine_test.cpp": "",
}


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in FILES.items():
            path = pathlib.Path(folder.name, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.tree = check_links.Tree(pathlib.Path(folder.name))

    def accepts(self, text, page="docs/tour.md"):
        self.assertEqual(check_links.faults(self.tree, page, text), [])

    def reports(self, text, fault, page="docs/tour.md"):
        self.assertEqual(check_links.faults(self.tree, page, text), [f"{page}:{fault}"])

    def test_links_are_relative_to_their_page(self):
        self.accepts("[a](page.md) and ![b](../README.md)")
        self.accepts("[a](docs/page.md)", page="README.md")
        self.reports("\n[a](README.md)", "2: README.md does not exist")

    def test_links_to_other_sites_are_not_followed(self):
        self.accepts("[a](https://example.com/docs/none.md) <mailto:a@example.com> https://example.com/src/none.cpp")

    def test_headings(self):
        self.accepts("[a](../README.md#two-words-and-code) [b](../README.md#again-1)")
        self.accepts("[a](#title)", page="README.md")
        self.reports("[a](../README.md#again-2)", "1: ../README.md#again-2: there is no such heading")

    def test_a_link_from_a_name_leads_to_a_file_that_has_it(self):
        self.accepts("[`Engine::take`](../src/core/engine.cpp) [`decide_receive()`](../src/core/engine.cpp)")
        self.accepts("[the rule](../src/core/engine.cpp) [`engine.cpp`](../src/core/engine.cpp)")
        self.reports("[`Engine::give`](../src/core/engine.cpp)", "1: ../src/core/engine.cpp does not contain Engine::give")
        # A part of a word is not the name.
        self.reports("[`decide`](../src/core/engine.cpp)", "1: ../src/core/engine.cpp does not contain decide")

    def test_names_behind_paths(self):
        self.accepts("`src/core/engine.cpp#Engine::take` and [a](../src/core/engine.cpp#take)")
        self.reports("`src/core/engine.cpp#give`", "1: src/core/engine.cpp does not contain give")
        self.reports("[a](../src/core/engine.cpp#give)", "1: ../src/core/engine.cpp does not contain give")

    def test_paths_in_the_text(self):
        self.accepts("`src/core`, src/core/engine.cpp, tests/*_test.cpp and src/core/engine.{cpp}.")
        self.reports("See src/core/none.cpp.", "1: src/core/none.cpp does not exist")
        self.reports("`tests/*_fuzz.cpp`", "1: tests/*_fuzz.cpp does not exist")
        self.reports("`src/core/engine.{h,cpp}`", "1: src/core/engine.{h,cpp} does not exist")

    def test_what_stands_for_something_else_is_not_a_path(self):
        self.accepts("`my/src/none.cpp` `build/src/none.cpp` `src/…` `src/<module>/x.cpp`")

    def test_code_blocks_are_not_checked(self):
        self.accepts("```sh\ncat src/none.cpp\n```\n\n    cat src/none.cpp\n")

    def test_the_line_is_counted_through_code_blocks(self):
        self.reports("```\na\nb\n```\nsrc/none.cpp", "5: src/none.cpp does not exist")


if __name__ == "__main__":
    unittest.main()
