"""Accounts and regions: where a queue lives follows from the caller's credentials."""

from harness.errors import PREFIX, missing_queue_text, refused
from harness.queue import unique_name

ACCOUNT = "123456789012"


def test_the_region_comes_from_the_credential_scope(api, new_queue):
    queue = new_queue(using=api.derive(region="eu-central-1"))
    assert queue.arn == f"arn:aws:sqs:eu-central-1:000000000000:{queue.name}"


def test_regions_do_not_see_each_other(api):
    name = unique_name("region")
    api.CreateQueue(QueueName=name)
    elsewhere = api.derive(region="eu-central-1")
    assert "QueueUrls" not in elsewhere.ListQueues(QueueNamePrefix=name)
    with refused(PREFIX + "NonExistentQueue", missing_queue_text(api)):
        elsewhere.GetQueueUrl(QueueName=name)
    elsewhere.CreateQueue(QueueName=name)
    url = api.GetQueueUrl(QueueName=name)["QueueUrl"]
    api.SendMessage(QueueUrl=url, MessageBody="here")
    assert elsewhere.ReceiveMessage(QueueUrl=url) == {}, "the same URL, another region"
    assert api.ReceiveMessage(QueueUrl=url)["Messages"][0]["Body"] == "here"


def test_a_twelve_digit_access_key_is_an_account(api, new_queue):
    queue = new_queue(using=api.derive(access_key=ACCOUNT))
    assert queue.url.endswith(f"/{ACCOUNT}/{queue.name}")
    assert queue.arn == f"arn:aws:sqs:us-east-1:{ACCOUNT}:{queue.name}"


def test_other_access_keys_mean_the_default_account(api, new_queue):
    for key in ("AKIAIOSFODNN7EXAMPLE", "12345678901", "x"):
        queue = new_queue(using=api.derive(access_key=key))
        assert queue.url.endswith(f"/000000000000/{queue.name}"), f"access key {key}"


def test_queues_of_another_account_are_not_listed(api, new_queue):
    prefix = unique_name("account")
    other = api.derive(access_key=ACCOUNT)
    mine, theirs = new_queue(prefix), new_queue(prefix, using=other)
    assert api.ListQueues(QueueNamePrefix=prefix)["QueueUrls"] == [mine.url]
    assert other.ListQueues(QueueNamePrefix=prefix)["QueueUrls"] == [theirs.url]
    with refused(PREFIX + "NonExistentQueue", missing_queue_text(api)):
        api.GetQueueUrl(QueueName=theirs.name)


def test_the_account_in_a_url_decides(api, new_queue):
    theirs = new_queue(using=api.derive(access_key=ACCOUNT))
    api.SendMessage(QueueUrl=theirs.url, MessageBody="by URL")
    assert theirs.bodies() == ["by URL"]
    found = api.GetQueueUrl(QueueName=theirs.name, QueueOwnerAWSAccountId=ACCOUNT)
    assert found["QueueUrl"] == theirs.url


def test_accounts_have_their_own_names(api):
    name = unique_name("shared")
    other = api.derive(access_key=ACCOUNT)
    mine = api.CreateQueue(QueueName=name)["QueueUrl"]
    theirs = other.CreateQueue(QueueName=name)["QueueUrl"]
    assert mine != theirs
    api.SendMessage(QueueUrl=mine, MessageBody="mine")
    assert other.ReceiveMessage(QueueUrl=theirs) == {}
