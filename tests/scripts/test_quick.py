"""Which test programs scripts/quick.py chooses for changed files."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import quick  # noqa: E402

MODULES = {"base": [], "core/engine": [], "cli/client": [], "dead_letters": [], "dead_letters/jobs": [], "aws/sqs/model": []}
PROGRAMS = quick.test_programs("""
module_tests(base LABELS quick threads)
module_tests(core/engine DEPENDS dead_letters faulty_files LABELS quick)
module_tests(aws/sqs/model NAME sqs)
module_tests(cli DEPENDS commands)
""")


class Choosing(unittest.TestCase):
    def chooses(self, changed, *programs):
        self.assertEqual(quick.chosen(changed, MODULES, PROGRAMS), list(programs))

    def test_a_module_has_a_program(self):
        self.chooses(["src/base/text.h"], "base_test")
        self.chooses(["src/aws/sqs/model/actions.h"], "sqs_test")

    def test_one_program_can_test_several_modules(self):
        self.chooses(["src/cli/client/pace.h"], "cli_test")

    def test_a_module_without_tests_is_tested_where_it_is_named(self):
        self.chooses(["src/dead_letters/jobs/jobs.cpp"], "engine_test")

    def test_tests_run_when_they_change(self):
        self.chooses(["tests/core/engine/send_test.cpp", "tests/base/text_test.cpp"], "base_test", "engine_test")

    def test_other_files_need_no_tests(self):
        self.chooses(["README.md", "scripts/quick.py", "src/none/x.cpp", "tests/conformance/test_send.py"])

    def test_the_project_has_programs_for_its_modules(self):
        programs = quick.test_programs((ROOT / "tests" / "CMakeLists.txt").read_text())
        modules = quick.read_modules((ROOT / "CMakeLists.txt").read_text())
        untested = [one for one in modules if not quick.folders_for(one, programs)]
        self.assertEqual(untested, [])


if __name__ == "__main__":
    unittest.main()
