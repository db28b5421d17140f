#!/usr/bin/env bash
# Stores send orders, some without a store_id; those end up in the dead-letter queue. Plain AWS
# CLI; README.md shows the output. RUN_SECONDS is how long the stores send (5).
set -euo pipefail
cd "$(dirname "$0")"
. ../server.sh
aws() { command aws --endpoint-url "$AWS_ENDPOINT_URL" "$@"; }
url() { aws sqs get-queue-url --queue-name "$1" --query QueueUrl --output text; }
messages() { aws sqs get-queue-attributes --queue-url "$1" --attribute-names All --query 'Attributes.[ApproximateNumberOfMessages,ApproximateNumberOfMessagesNotVisible]' --output text; }
work="$(mktemp -d)"
pack() { (cd "$1" && python3 -m zipfile -c "$work/$1.zip" index.py); }
# deploy NAME DIRECTORY TIMEOUT ENVIRONMENT
deploy() { pack "$2"; aws lambda create-function --function-name "$1" --runtime python3.11 --handler index.handler --role "$role" --zip-file "fileb://$work/$2.zip" --timeout "$3" --environment "$4" --query FunctionArn --output text; }

echo "== Two queues: messages that fail twice go to the second"
dead="$(aws sqs create-queue --queue-name dlq_for_reliable_q --query QueueUrl --output text)"
orders="$(aws sqs create-queue --queue-name reliable_q --attributes '{"VisibilityTimeout": "5", "RedrivePolicy": "{\"deadLetterTargetArn\": \"arn:aws:sqs:us-east-1:000000000000:dlq_for_reliable_q\", \"maxReceiveCount\": 2}"}' --query QueueUrl --output text)"
echo "$orders"; echo "$dead"

echo "== A producer and a consumer"
trust='{"Version": "2012-10-17", "Statement": [{"Action": "sts:AssumeRole", "Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}}]}'
role="$(aws iam create-role --role-name stores --assume-role-policy-document "$trust" --query Role.Arn --output text)"
deploy store_producer producer 60 "Variables={QUEUE_URL=$orders,RUN_SECONDS=${RUN_SECONDS:-5}}"
deploy store_consumer consumer 5 "Variables={}"
mapping="$(aws lambda create-event-source-mapping --function-name store_consumer --event-source-arn arn:aws:sqs:us-east-1:000000000000:reliable_q --batch-size 10 --query UUID --output text)"

echo "== The stores send orders"
aws lambda invoke --function-name store_producer --cli-read-timeout 60 "$work/produced.json" --query StatusCode --output text
cat "$work/produced.json"; echo
bad="$(python3 -c 'import json, sys; print(json.loads(json.load(sys.stdin)["body"])["message"]["bad_msg"])' < "$work/produced.json")"

echo "== Every order is processed, or a dead letter after two failures"
until [[ "$(messages "$orders")" == $'0\t0' && "$(messages "$dead")" == "$bad"$'\t0' ]]; do sleep 0.5; done
echo "dead letters: $bad, as many as bad_msg"
aws sqs receive-message --queue-url "$dead" --message-attribute-names All --attribute-names All --visibility-timeout 0 --query 'Messages[0].[Body,MessageAttributes.store_id,Attributes.ApproximateReceiveCount]' --output json

aws lambda delete-event-source-mapping --uuid "$mapping" > /dev/null
for name in store_producer store_consumer; do aws lambda delete-function --function-name "$name" > /dev/null; done
aws iam delete-role --role-name stores
for queue in "$orders" "$dead"; do aws sqs delete-queue --queue-url "$queue"; done
rm -r "$work"
