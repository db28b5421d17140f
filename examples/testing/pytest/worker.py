"""The consumer under test: handles orders, and tries again later and later when that fails."""


def backoff_seconds(attempt):
    """10 s, 20 s, 40 s, ... at most an hour."""
    return min(10 * 2 ** (attempt - 1), 3600)


def work(sqs, queue_url, handle):
    """Takes what is there and handles it. Returns how many messages were done with."""
    answer = sqs.receive_message(
        QueueUrl=queue_url, MaxNumberOfMessages=10, AttributeNames=["ApproximateReceiveCount"]
    )
    done = 0
    for message in answer.get("Messages", []):
        receipt = {"QueueUrl": queue_url, "ReceiptHandle": message["ReceiptHandle"]}
        try:
            handle(message["Body"])
        except Exception:
            attempt = int(message["Attributes"]["ApproximateReceiveCount"])
            sqs.change_message_visibility(**receipt, VisibilityTimeout=backoff_seconds(attempt))
        else:
            sqs.delete_message(**receipt)
            done += 1
    return done
