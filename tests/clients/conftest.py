"""Every test here is one client's day at work, against the server that run.sh started."""

import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "conformance")]
pytest.register_assert_rewrite("plan", "workload")


@pytest.fixture(scope="session")
def endpoint():
    return os.environ["REDRIVE_ENDPOINT"]
