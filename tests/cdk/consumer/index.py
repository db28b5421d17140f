"""Works off orders; one without a store cannot be processed, now or later."""

import json


def handler(event, context):
    failed = []
    for record in event["Records"]:
        order = json.loads(record["body"])
        try:
            print("order of store", order["store_id"])
        except KeyError:
            failed.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failed}
