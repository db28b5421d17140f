import time

time.sleep(30)


def handler(event, context):
    return 1
