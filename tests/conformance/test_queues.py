"""Queues: names, URLs, creation and its idempotency, listing, deletion."""

import contextlib
import urllib.parse

import pytest

from harness.errors import PREFIX, ApiError, missing_queue_text, refused
from harness.queue import Queue, unique_name

VALID_NAMES = {
    "one character": "a",
    "80 characters": "n" * 80,
    "all allowed kinds": "aZ09_-",
    "fifo, 80 with suffix": "f" * 75 + ".fifo",
}
INVALID_NAMES = {
    "81 characters": ("n" * 81, {}),
    "slash": ("a/b", {}),
    "dot": ("a.b", {}),
    "space": ("a b", {}),
    "star": ("a*", {}),
    "accented letter": ("é", {}),
    "fifo suffix on a standard queue": ("standard.fifo", {}),
    "fifo without suffix": ("no-suffix", {"FifoQueue": "true"}),
    "fifo, 81 with suffix": ("f" * 76 + ".fifo", {"FifoQueue": "true"}),
    "only the suffix": (".fifo", {"FifoQueue": "true"}),
}


@pytest.mark.parametrize("name", VALID_NAMES.values(), ids=VALID_NAMES)
def test_valid_names_are_accepted(api, name):
    attributes = {"FifoQueue": "true"} if name.endswith(".fifo") else {}
    url = api.CreateQueue(QueueName=name, Attributes=attributes)["QueueUrl"]
    assert url.endswith(f"/000000000000/{name}")


@pytest.mark.parametrize("name,attributes", INVALID_NAMES.values(), ids=INVALID_NAMES)
def test_invalid_names_are_refused(api, name, attributes):
    with refused("InvalidParameterValue", rule=f"queue name {name!r}"):
        api.CreateQueue(QueueName=name, Attributes=attributes)


def test_names_are_case_sensitive(api):
    name = unique_name("Case")
    lower, upper = (
        api.CreateQueue(QueueName=each)["QueueUrl"] for each in (name.lower(), name.upper())
    )
    assert lower != upper


def test_url_is_the_host_header_the_account_and_the_name(api, new_queue):
    queue = new_queue()
    parts = urllib.parse.urlsplit(queue.url)
    assert parts.path == f"/000000000000/{queue.name}", "exactly two path segments"
    assert parts.netloc == urllib.parse.urlsplit(api.endpoint).netloc


def test_url_mirrors_the_host_the_client_used(api, new_queue):
    queue = new_queue()
    port = urllib.parse.urlsplit(api.endpoint).port
    other = api.derive(endpoint=f"http://localhost:{port}")
    assert (
        other.GetQueueUrl(QueueName=queue.name)["QueueUrl"]
        == f"http://localhost:{port}/000000000000/{queue.name}"
    )
    assert other.ListQueues(QueueNamePrefix=queue.name)["QueueUrls"][0].startswith(
        f"http://localhost:{port}/"
    )


def test_arn_names_region_account_and_queue(new_queue):
    queue = new_queue()
    assert queue.arn == f"arn:aws:sqs:us-east-1:000000000000:{queue.name}"


def test_get_queue_url(api, new_queue):
    queue = new_queue()
    assert api.GetQueueUrl(QueueName=queue.name)["QueueUrl"] == queue.url
    assert (
        api.GetQueueUrl(QueueName=queue.name, QueueOwnerAWSAccountId="000000000000")["QueueUrl"]
        == queue.url
    )


def test_get_queue_url_of_a_missing_queue(api):
    with refused(PREFIX + "NonExistentQueue", missing_queue_text(api)):
        api.GetQueueUrl(QueueName=unique_name())


# --- How a request names its queue ------------------------------------------------------------


def test_scheme_host_and_port_of_a_queue_url_are_ignored(api, new_queue):
    queue = new_queue()
    for url in (
        f"http://some-container:9999/000000000000/{queue.name}",
        f"https://sqs.us-east-1.amazonaws.com/000000000000/{queue.name}",
        f"{queue.url}/",
    ):
        answer = api.GetQueueAttributes(QueueUrl=url, AttributeNames=["QueueArn"])
        assert answer["Attributes"]["QueueArn"] == queue.arn, f"queue URL {url}"


def test_a_bare_queue_name_is_accepted_for_a_queue_url(json_api, query_api):
    """Only raw clients: boto3 itself needs a URL it can send the request to."""
    for client in (json_api, query_api):
        queue = Queue.create(client)
        client.SendMessage(QueueUrl=queue.name, MessageBody="by name")
        assert queue.bodies() == ["by name"], f"bare queue name over {client.name}"


@pytest.mark.parametrize(
    "action,parameters",
    {
        "AddPermission": {"Label": "l", "AWSAccountIds": ["111111111111"], "Actions": ["*"]},
        "ChangeMessageVisibility": {"ReceiptHandle": "x", "VisibilityTimeout": 0},
        "ChangeMessageVisibilityBatch": {"Entries": [{"Id": "a", "ReceiptHandle": "x"}]},
        "DeleteMessage": {"ReceiptHandle": "x"},
        "DeleteMessageBatch": {"Entries": [{"Id": "a", "ReceiptHandle": "x"}]},
        "DeleteQueue": {},
        "GetQueueAttributes": {"AttributeNames": ["All"]},
        "ListDeadLetterSourceQueues": {},
        "ListQueueTags": {},
        "PurgeQueue": {},
        "ReceiveMessage": {},
        "RemovePermission": {"Label": "l"},
        "SendMessage": {"MessageBody": "x"},
        "SendMessageBatch": {"Entries": [{"Id": "a", "MessageBody": "x"}]},
        "SetQueueAttributes": {"Attributes": {"DelaySeconds": "1"}},
        "TagQueue": {"Tags": {"a": "b"}},
        "UntagQueue": {"TagKeys": ["a"]},
    }.items(),
)
def test_every_queue_action_refuses_a_missing_queue(api, action, parameters):
    url = f"{api.endpoint}/000000000000/{unique_name('missing')}"
    with refused(PREFIX + "NonExistentQueue", missing_queue_text(api), rule=action):
        api.call(action, {"QueueUrl": url, **parameters})


# --- Creating twice ---------------------------------------------------------------------------


def test_create_again_without_attributes_returns_the_existing_queue(api, new_queue):
    queue = new_queue(attributes={"VisibilityTimeout": "61"})
    assert api.CreateQueue(QueueName=queue.name)["QueueUrl"] == queue.url
    assert queue.attribute("VisibilityTimeout") == "61"


def test_create_again_compares_only_the_given_attributes(api, new_queue):
    queue = new_queue(attributes={"VisibilityTimeout": "61", "DelaySeconds": "3"})
    again = api.CreateQueue(QueueName=queue.name, Attributes={"DelaySeconds": "3"})
    assert again["QueueUrl"] == queue.url
    default = api.CreateQueue(QueueName=queue.name, Attributes={"MaximumMessageSize": "1048576"})
    assert default["QueueUrl"] == queue.url, "a value equal to the default is equal"


def test_create_again_with_another_value_is_refused_and_names_the_attribute(api, new_queue):
    queue = new_queue(attributes={"VisibilityTimeout": "61"})
    with refused(
        "QueueAlreadyExists",
        "A queue already exists with the same name and a different value for attribute "
        "VisibilityTimeout",
    ):
        api.CreateQueue(QueueName=queue.name, Attributes={"VisibilityTimeout": "62"})
    assert queue.attribute("VisibilityTimeout") == "61"


def test_create_again_compares_with_the_current_values(api, new_queue):
    queue = new_queue(attributes={"VisibilityTimeout": "61"})
    queue.set(VisibilityTimeout="62")
    with refused("QueueAlreadyExists", rule="the original create no longer fits"):
        api.CreateQueue(QueueName=queue.name, Attributes={"VisibilityTimeout": "61"})
    again = api.CreateQueue(QueueName=queue.name, Attributes={"VisibilityTimeout": "62"})
    assert again["QueueUrl"] == queue.url


def test_create_again_ignores_messages_and_tags(api, new_queue):
    queue = new_queue(tags={"team": "a"})
    queue.send("in between")
    assert api.CreateQueue(QueueName=queue.name, tags={"team": "b"})["QueueUrl"] == queue.url
    assert api.ListQueueTags(QueueUrl=queue.url)["Tags"] == {"team": "a"}
    assert queue.counts() == (1, 0, 0)


def test_create_again_for_a_fifo_queue(api, new_queue):
    queue = new_queue(fifo=True, attributes={"ContentBasedDeduplication": "true"})
    attributes = {"FifoQueue": "true", "ContentBasedDeduplication": "true"}
    assert api.CreateQueue(QueueName=queue.name, Attributes=attributes)["QueueUrl"] == queue.url
    with refused("QueueAlreadyExists", matching="ContentBasedDeduplication$"):
        api.CreateQueue(
            QueueName=queue.name, Attributes={**attributes, "ContentBasedDeduplication": "false"}
        )


# --- Listing ----------------------------------------------------------------------------------


def test_list_queues_by_prefix(api, new_queue):
    prefix = unique_name("list")
    names = {new_queue(f"{prefix}-{n}").name for n in range(3)}
    new_queue("other")
    urls = api.ListQueues(QueueNamePrefix=prefix)["QueueUrls"]
    assert {url.rsplit("/", 1)[1] for url in urls} == names
    assert "QueueUrls" not in api.ListQueues(QueueNamePrefix=prefix + "-none")


def test_list_queues_pages(api, new_queue):
    prefix = unique_name("page")
    names = sorted(new_queue(f"{prefix}-{n}").name for n in range(5))
    seen, token, pages = [], None, 0
    while token is not None or pages == 0:
        more = {"NextToken": token} if token else {}
        page = api.ListQueues(QueueNamePrefix=prefix, MaxResults=2, **more)
        assert len(page["QueueUrls"]) <= 2
        seen += [url.rsplit("/", 1)[1] for url in page["QueueUrls"]]
        token, pages = page.get("NextToken"), pages + 1
    assert pages == 3, "the last page carries no NextToken"
    assert sorted(seen) == names, "every queue appears on exactly one page"


def test_list_queues_without_max_results_has_no_token(api, new_queue):
    prefix = unique_name("token")
    for n in range(3):
        new_queue(f"{prefix}-{n}")
    assert "NextToken" not in api.ListQueues(QueueNamePrefix=prefix)
    exact = api.ListQueues(QueueNamePrefix=prefix, MaxResults=3)
    assert "NextToken" not in exact, "nothing more to come, so no token"


@pytest.mark.parametrize("value", [0, 1001, -1])
def test_list_queues_max_results_range(api, value):
    with refused("InvalidParameterValue", rule="MaxResults is 1..1000"):
        api.ListQueues(MaxResults=value)


# --- Deletion ---------------------------------------------------------------------------------


def test_delete_queue_with_messages_inside(api, new_queue):
    queue = new_queue()
    queue.send("lost with the queue")
    assert api.DeleteQueue(QueueUrl=queue.url) == {}
    with refused(PREFIX + "NonExistentQueue", missing_queue_text(api)):
        queue.send("too late")
    assert "QueueUrls" not in api.ListQueues(QueueNamePrefix=queue.name)


def test_a_queue_can_be_created_again_at_once_and_is_empty(api, new_queue):
    """The 60 second rule of SQS is off unless the server was started with --strict-timing."""
    queue = new_queue(attributes={"VisibilityTimeout": "61"}, tags={"old": "tag"})
    queue.send("old")
    handle = queue.receive_one()["ReceiptHandle"]
    api.DeleteQueue(QueueUrl=queue.url)
    api.CreateQueue(QueueName=queue.name)
    assert queue.counts() == (0, 0, 0)
    assert queue.attribute("VisibilityTimeout") == "30"
    assert api.ListQueueTags(QueueUrl=queue.url) == {}
    queue.send("new")
    with contextlib.suppress(ApiError):  # Refusing the old handle is as good as ignoring it.
        queue.delete_handle(handle)
    assert queue.bodies() == ["new"], "a handle of the former queue deletes nothing"
