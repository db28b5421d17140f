"""Processes orders; one that does not say which store it is from cannot be processed."""

import json


def handler(event, context):
    response = {"status": False, "tot_msgs": len(event["Records"]), "f_msgs": 0, "s_msgs": 0}
    for record in event["Records"]:
        if "store_id" not in record["messageAttributes"]:
            raise Exception(json.dumps({"missing_store_id": True}))
        response["s_msgs"] += 1
    response["status"] = True
    print(json.dumps({"resp": response}))
    return response
