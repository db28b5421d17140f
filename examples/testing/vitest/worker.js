// The consumer under test: handles orders, and tries again later and later when that fails.
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs';

// 10 s, 20 s, 40 s, ... at most an hour.
export const backoffSeconds = (attempt) => Math.min(10 * 2 ** (attempt - 1), 3600);

// Takes what is there and handles it. Resolves to the number of messages done with.
export async function work(sqs, QueueUrl, handle) {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: 10,
      MessageSystemAttributeNames: ['ApproximateReceiveCount'],
    }),
  );
  let done = 0;
  for (const { Body, ReceiptHandle, Attributes } of Messages) {
    try {
      await handle(Body);
    } catch {
      const VisibilityTimeout = backoffSeconds(Number(Attributes.ApproximateReceiveCount));
      const later = { QueueUrl, ReceiptHandle, VisibilityTimeout };
      await sqs.send(new ChangeMessageVisibilityCommand(later));
      continue;
    }
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    done += 1;
  }
  return done;
}
