"""Fair queues: standard queues whose messages carry a group, meaning a tenant."""

import pytest

from harness.errors import refused


def send_many(queue, tenant, count):
    for start in range(0, count, 10):
        queue.send_batch(
            [
                {"Id": str(n), "MessageBody": f"{tenant}-{n}", "MessageGroupId": tenant}
                for n in range(start, min(start + 10, count))
            ]
        )


def test_a_group_on_a_standard_queue_is_returned_and_orders_nothing(new_queue):
    queue = new_queue()
    sent = queue.send("a", MessageGroupId="tenant")
    assert "SequenceNumber" not in sent
    queue.send("a", MessageGroupId="tenant")
    first = queue.receive_one(AttributeNames=["All"])
    assert first["Attributes"]["MessageGroupId"] == "tenant"
    assert not {"SequenceNumber", "MessageDeduplicationId"} & set(first["Attributes"])
    assert queue.bodies() == ["a"], "no deduplication, and no blocking by the first one"


@pytest.mark.parametrize("group", ["x" * 129, "a b"])
def test_group_ids_follow_the_same_rules_on_standard_queues(new_queue, group):
    queue = new_queue()
    with refused(
        "InvalidParameterValue",
        f"Value {group} for parameter MessageGroupId is invalid. Reason: MessageGroupId can only "
        "include alphanumeric and punctuation characters. 1 to 128 in length.",
    ):
        queue.send("m", MessageGroupId=group)


def test_a_quiet_tenant_is_not_starved_by_a_noisy_one(new_queue):
    """Forty in flight and a long backlog make a tenant noisy; the quiet one goes first."""
    queue = new_queue()
    send_many(queue, "noisy", 60)
    for _ in range(4):
        assert len(queue.receive(max=10)) == 10
    queue.send("quiet", MessageGroupId="quiet")
    queue.send("nobody's")
    bodies = queue.bodies(max=2)
    assert sorted(bodies) == ["nobody's", "quiet"], "both quiet tenants come before the backlog"


def test_nothing_is_lost_or_throttled_for_a_noisy_tenant(new_queue):
    queue = new_queue()
    send_many(queue, "noisy", 60)
    queue.send("quiet", MessageGroupId="quiet")
    received = []
    while batch := queue.bodies(max=10):
        received += batch
    assert len(received) == len(set(received)) == 61


def test_among_noisy_tenants_the_one_with_fewer_in_flight_goes_first(new_queue):
    queue = new_queue()
    send_many(queue, "aa", 60)
    for _ in range(5):
        queue.receive(max=10)
    send_many(queue, "bb", 50)
    held = []
    for _ in range(4):
        held += queue.bodies(max=10)
    assert all(body.startswith("bb") for body in held), "bb was quiet, then held fewer than aa"
