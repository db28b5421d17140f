"""Purging, tags, permissions, and the counters."""

import json

import pytest

from harness import clock
from harness.errors import PREFIX, refused

# --- Purge ------------------------------------------------------------------------------------


def test_purge_removes_visible_in_flight_and_delayed_messages(api, new_queue):
    queue = new_queue()
    queue.send("in flight")
    queue.receive_one()
    queue.send("visible")
    queue.send("delayed", DelaySeconds=900)
    assert queue.counts() == (1, 1, 1)
    assert api.PurgeQueue(QueueUrl=queue.url) == {}
    assert queue.counts() == (0, 0, 0)
    queue.send("after")
    assert queue.bodies() == ["after"]


@pytest.mark.virtual_clock
def test_a_purged_in_flight_message_does_not_come_back(api, new_queue):
    queue = new_queue()
    queue.send("m")
    queue.receive_one(VisibilityTimeout=1)
    api.PurgeQueue(QueueUrl=queue.url)
    clock.wait(1)
    assert queue.bodies() == []


def test_a_second_purge_within_a_minute_is_refused(api, new_queue):
    queue = new_queue()
    api.PurgeQueue(QueueUrl=queue.url)
    with refused(
        PREFIX + "PurgeQueueInProgress",
        f"Only one PurgeQueue operation on {queue.name} is allowed every 60 seconds.",
        status=403,
    ):
        api.PurgeQueue(QueueUrl=queue.url)


def test_a_purge_frees_blocked_fifo_groups(api, new_queue):
    queue = new_queue(fifo=True)
    queue.send_fifo("held")
    queue.receive_one()
    api.PurgeQueue(QueueUrl=queue.url)
    queue.send_fifo("new")
    assert queue.bodies() == ["new"]


# --- Tags -------------------------------------------------------------------------------------


def test_tags_are_set_at_creation_merged_and_removed(api, new_queue):
    queue = new_queue(tags={"team": "a", "Team": "b"})
    tags = lambda: api.ListQueueTags(QueueUrl=queue.url).get("Tags")
    assert tags() == {"team": "a", "Team": "b"}, "keys are case-sensitive"
    api.TagQueue(QueueUrl=queue.url, Tags={"team": "c", "empty": ""})
    assert tags() == {"team": "c", "Team": "b", "empty": ""}
    api.UntagQueue(QueueUrl=queue.url, TagKeys=["team", "never there"])
    assert tags() == {"Team": "b", "empty": ""}
    api.UntagQueue(QueueUrl=queue.url, TagKeys=["Team", "empty"])
    assert api.ListQueueTags(QueueUrl=queue.url) == {}


def test_tag_values_round_trip(api, new_queue):
    queue = new_queue()
    tags = {"a:b/c": '<&"> é +%', "k" * 128: "v" * 256}
    api.TagQueue(QueueUrl=queue.url, Tags=tags)
    assert api.ListQueueTags(QueueUrl=queue.url)["Tags"] == tags


# --- Permissions ------------------------------------------------------------------------------


def policy_of(queue):
    return json.loads(queue.attribute("Policy"))


def permit(queue, label, accounts, actions):
    return queue.api.AddPermission(
        QueueUrl=queue.url, Label=label, AWSAccountIds=accounts, Actions=actions
    )


def test_a_permission_becomes_a_statement(new_queue):
    queue = new_queue()
    assert permit(queue, "one", ["111111111111", "222222222222"], ["ReceiveMessage"]) == {}
    assert policy_of(queue) == {
        "Version": "2008-10-17",
        "Id": f"{queue.arn}/SQSDefaultPolicy",
        "Statement": [
            {
                "Sid": "one",
                "Effect": "Allow",
                "Principal": {
                    "AWS": [f"arn:aws:iam::{account * 12}:root" for account in ("1", "2")]
                },
                "Action": "SQS:ReceiveMessage",
                "Resource": queue.arn,
            }
        ],
    }


def test_single_principals_are_plain_and_several_actions_a_list(new_queue):
    queue = new_queue()
    permit(queue, "two", ["111111111111"], ["SendMessage", "ReceiveMessage"])
    (statement,) = policy_of(queue)["Statement"]
    assert statement["Principal"] == {"AWS": "arn:aws:iam::111111111111:root"}
    assert statement["Action"] == ["SQS:SendMessage", "SQS:ReceiveMessage"]


def test_removing_the_last_permission_removes_the_policy(api, new_queue):
    queue = new_queue()
    permit(queue, "one", ["111111111111"], ["SendMessage"])
    permit(queue, "two", ["111111111111"], ["*"])
    assert [each["Sid"] for each in policy_of(queue)["Statement"]] == ["one", "two"]
    api.RemovePermission(QueueUrl=queue.url, Label="one")
    assert [each["Sid"] for each in policy_of(queue)["Statement"]] == ["two"]
    api.RemovePermission(QueueUrl=queue.url, Label="two")
    assert "Policy" not in queue.attributes()


def test_labels_are_unique_and_must_exist(api, new_queue):
    queue = new_queue()
    permit(queue, "one", ["111111111111"], ["SendMessage"])
    with refused(
        "InvalidParameterValue",
        "Value one for parameter Label is invalid. Reason: Already exists.",
    ):
        permit(queue, "one", ["111111111111"], ["SendMessage"])
    with refused(
        "InvalidParameterValue",
        "Value other for parameter Label is invalid. Reason: can't find label.",
    ):
        api.RemovePermission(QueueUrl=queue.url, Label="other")


def test_permission_refusals(new_queue):
    queue = new_queue()
    with refused("InvalidParameterValue", rule="an action that does not exist"):
        permit(queue, "a", ["111111111111"], ["FlyToTheMoon"])
    with refused("InvalidParameterValue", rule="an action only the owner may call"):
        permit(queue, "b", ["111111111111"], ["CreateQueue"])
    eight = [
        "SendMessage", "ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility",
        "GetQueueAttributes", "GetQueueUrl", "ListDeadLetterSourceQueues", "PurgeQueue",
    ]  # fmt: skip
    with refused("OverLimit", rule="at most seven actions"):
        permit(queue, "c", ["111111111111"], eight)
    assert "Policy" not in queue.attributes()


# --- Counters ---------------------------------------------------------------------------------


def test_the_three_counters_are_disjoint_exact_and_immediate(new_queue):
    queue = new_queue()
    assert queue.counts() == (0, 0, 0)
    queue.send_batch([{"Id": str(n), "MessageBody": "m"} for n in range(5)])
    queue.send("delayed", DelaySeconds=900)
    assert queue.counts() == (5, 0, 1)
    first, second = queue.receive(max=2)
    assert queue.counts() == (3, 2, 1)
    queue.delete(first)
    queue.change_visibility(second, 0)
    assert queue.counts() == (4, 0, 1)


@pytest.mark.virtual_clock
def test_an_ended_timeout_moves_a_message_between_counters(new_queue):
    queue = new_queue()
    queue.send("m")
    queue.receive_one(VisibilityTimeout=1)
    assert queue.counts() == (0, 1, 0)
    clock.wait(1)
    assert queue.counts() == (1, 0, 0)


@pytest.mark.parametrize("fifo", [False, True], ids=["standard", "fifo"])
def test_a_receive_with_timeout_zero_leaves_the_counters_alone(new_queue, fifo):
    queue = new_queue(fifo=fifo)
    queue.send_fifo("m") if fifo else queue.send("m")
    queue.receive_one(VisibilityTimeout=0)
    assert queue.counts() == (1, 0, 0)
