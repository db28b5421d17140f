#!/usr/bin/env bash
# A message moves to a dead-letter queue and back. README.md shows the output.
set -euo pipefail
cd "$(dirname "$0")"
. ../server.sh
aws() { command aws --endpoint-url "$AWS_ENDPOINT_URL" "$@"; }
url() { aws sqs get-queue-url --queue-name "$1" --query QueueUrl --output text; }
arn() { aws sqs get-queue-attributes --queue-url "$(url "$1")" --attribute-names QueueArn --query Attributes.QueueArn --output text; }
count() { aws sqs get-queue-attributes --queue-url "$(url "$1")" --attribute-names ApproximateNumberOfMessages --query Attributes.ApproximateNumberOfMessages --output text; }
policy() { printf '{"RedrivePolicy":"{\\"deadLetterTargetArn\\":\\"%s\\",\\"maxReceiveCount\\":\\"%s\\"}"}' "$1" "$2"; }
refused() { if "$@" 2> /tmp/refused.$$; then echo "accepted?"; exit 1; fi; tail -1 /tmp/refused.$$; rm /tmp/refused.$$; }

echo "== A queue, and a dead-letter queue after five receives"
for name in ingestions-dlq ingestions other-place; do aws sqs create-queue --queue-name "$name" --output text; done
aws sqs set-queue-attributes --queue-url "$(url ingestions)" --attributes "$(policy "$(arn ingestions-dlq)" 5)"
aws sqs send-message --queue-url "$(url ingestions)" --message-body '{"document": 17}' --query MessageId --output text

echo "== The consumer forgets to delete"
python3 consumer.py "$(url ingestions)"

echo "== The sixth receive makes it a dead letter, with the same MessageId"
python3 consumer.py "$(url ingestions-dlq)" --once
sleep "${VISIBILITY_TIMEOUT:-5}"

echo "== Redrive to the source queue"
task="$(aws sqs start-message-move-task --source-arn "$(arn ingestions-dlq)" --query TaskHandle --output text)"
[[ -n "$task" ]]
until [[ "$(count ingestions)" == 1 ]]; do :; done
aws sqs list-message-move-tasks --source-arn "$(arn ingestions-dlq)" --query 'Results[0].[Status,ApproximateNumberOfMessagesMoved]' --output text
python3 consumer.py "$(url ingestions)" --delete

echo "== Redrive a hundred messages to another queue at one a second, and cancel"
for batch in {1..10}; do
  entries="$(for i in {0..9}; do printf '{"Id":"%s","MessageBody":"%s"},' "$i" "$batch$i"; done)"
  aws sqs send-message-batch --queue-url "$(url ingestions-dlq)" --entries "[${entries%,}]" > /dev/null
done
task="$(aws sqs start-message-move-task --source-arn "$(arn ingestions-dlq)" --destination-arn "$(arn other-place)" --max-number-of-messages-per-second 1 --query TaskHandle --output text)"
refused aws sqs start-message-move-task --source-arn "$(arn ingestions-dlq)"
aws sqs list-message-move-tasks --source-arn "$(arn ingestions-dlq)" --query 'Results[0].[Status,ApproximateNumberOfMessagesToMove]' --output text
aws sqs cancel-message-move-task --task-handle "$task" > /dev/null
aws sqs list-message-move-tasks --source-arn "$(arn ingestions-dlq)" --query 'Results[0].Status' --output text
echo "total: $(($(count ingestions-dlq) + $(count other-place)))"

echo "== Validation"
refused aws sqs set-queue-attributes --queue-url "$(url ingestions)" --attributes "$(policy "$(arn ingestions-dlq)" 1001)"
refused aws sqs create-queue --queue-name orders.fifo --attributes "$(policy "$(arn ingestions-dlq)" 5 | sed 's/^{/{"FifoQueue":"true",/')"
aws sqs create-queue --queue-name uploads --attributes "$(policy "$(arn ingestions-dlq)" 3)" > /dev/null
aws sqs list-dead-letter-source-queues --queue-url "$(url ingestions-dlq)" --query queueUrls --output text

for name in ingestions-dlq ingestions other-place uploads; do aws sqs delete-queue --queue-url "$(url "$name")"; done
