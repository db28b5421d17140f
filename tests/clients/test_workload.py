"""The same day's work through each client that is called action by action."""

import pytest

from plan import Plan
from tools import AwsCli, Boto3, write_json_model
from wires import curl_json, curl_query, signed_json, signed_query
from workload import run_day


def test_boto3_query(endpoint):
    boto3 = Boto3(endpoint)
    assert boto3.protocol == "query"
    run_day(boto3, Plan())


def test_boto3_json(endpoint, tmp_path):
    boto3 = Boto3(endpoint, data_path=write_json_model(tmp_path))
    assert boto3.protocol == "json"
    run_day(boto3, Plan())


@pytest.mark.parametrize("make", [signed_json, signed_query])
def test_signed_raw_requests(endpoint, make):
    run_day(make(endpoint), Plan())


@pytest.mark.parametrize("make", [curl_json, curl_query])
def test_curl(endpoint, make):
    """A process for each request: the two protocols share the thousand messages."""
    run_day(make(endpoint), Plan(standard=400, fifo=100))


@pytest.mark.skipif(not AwsCli.installed(), reason="awscli is not installed")
def test_awscli(endpoint, tmp_path):
    """Few messages: a process of Python for each call costs more than all the work elsewhere."""
    plan = Plan(standard=40, fifo=4, groups=1, consumers=2, wait_seconds=4, hold_seconds=8)
    run_day(AwsCli(endpoint, tmp_path), plan)
