"""The application of test_celery.py: tasks that succeed, ask to be tried again, or fail.

What happened is appended to a file, a line for each run of a task, so that a worker can be killed
without taking its story along.
"""

import os

from celery import Celery

broker = os.environ["REDRIVE_ENDPOINT"].replace("http://", "sqs://test:test@")
app = Celery("celery_tasks", broker=broker)
app.conf.update(
    broker_transport_options={
        "region": "us-east-1",
        "queue_name_prefix": os.environ["CLIENTS_PREFIX"],
        "visibility_timeout": int(os.environ["CLIENTS_VISIBILITY_SECONDS"]),
        "wait_time_seconds": 1,
        "polling_interval": 0.1,
    },
    # A message is deleted after its task has succeeded, not before it starts; one that failed is
    # left to its visibility timeout and, in the end, to the dead-letter queue.
    task_acks_late=True,
    task_acks_on_failure_or_timeout=False,
    task_ignore_result=True,
    worker_prefetch_multiplier=int(os.environ["CLIENTS_PREFETCH"]),
    worker_enable_remote_control=False,
)


def tell(event, n):
    descriptor = os.open(os.environ["CLIENTS_STORY"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, f"{event} {n}\n".encode())
    os.close(descriptor)


@app.task(bind=True, max_retries=3)
def work(self, n, fate):
    tell("started", n)
    if fate == "flaky" and self.request.retries == 0:
        raise self.retry(countdown=0)
    if fate == "poison" and not os.path.exists(os.environ["CLIENTS_FIXED"]):
        raise ValueError(f"number {n} fails as planned")
    tell("done", n)
