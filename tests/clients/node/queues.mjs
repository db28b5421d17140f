// The queues of one day's work: made in pairs, looked into, redriven, deleted.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  ChangeMessageVisibilityBatchCommand,
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ListMessageMoveTasksCommand,
  ReceiveMessageCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import { maxReceives } from './plan.mjs';

export const client = new SQSClient({
  endpoint: process.env.REDRIVE_ENDPOINT,
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
});

export function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

export async function until(rule, condition, milliseconds) {
  const deadline = Date.now() + milliseconds;
  while (!(await condition())) {
    assert.ok(Date.now() < deadline, `${rule}: did not happen in ${milliseconds} ms`);
    await pause(50);
  }
}

async function attributes(QueueUrl) {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
  return (await client.send(command)).Attributes;
}

async function createQueue(kind, fifo, Attributes) {
  const QueueName = `${kind}-${randomBytes(6).toString('hex')}${fifo ? '.fifo' : ''}`;
  const settings = { ...Attributes, ...(fifo ? { FifoQueue: 'true' } : {}) };
  const command = new CreateQueueCommand({ QueueName, Attributes: settings });
  const url = (await client.send(command)).QueueUrl;
  return { url, arn: (await attributes(url)).QueueArn };
}

// A queue to work on and the dead-letter queue behind it.
export async function createPair({ fifo = false, visibilitySeconds = 60 } = {}) {
  const dead = await createQueue('dead', fifo, {});
  const policy = { deadLetterTargetArn: dead.arn, maxReceiveCount: maxReceives };
  const work = await createQueue('work', fifo, {
    VisibilityTimeout: String(visibilitySeconds),
    RedrivePolicy: JSON.stringify(policy),
  });
  return { work, dead };
}

// [visible, in flight, delayed]
export async function counts(queue) {
  const found = await attributes(queue.url);
  const suffixes = ['', 'NotVisible', 'Delayed'];
  return suffixes.map((suffix) => Number(found[`ApproximateNumberOfMessages${suffix}`]));
}

export async function isEmpty(queue) {
  return (await counts(queue)).every((count) => count === 0);
}

// Body and message attribute say the same, or one of them was damaged on the way.
export function numberOf(message) {
  const n = Number(message.Body.replace('work ', ''));
  assert.deepEqual(message.MessageAttributes.number, { DataType: 'Number', StringValue: `${n}` });
  return n;
}

export function messageFor(n) {
  return { body: `work ${n}`, attributes: { number: { DataType: 'Number', StringValue: `${n}` } } };
}

// Looks at every dead letter, then lets them all go again.
export async function checkDeadLetters({ work, dead }, poison) {
  assert.deepEqual(await counts(work), [0, 0, 0]);
  assert.deepEqual(await counts(dead), [poison.length, 0, 0]);
  const seen = [];
  while (seen.length < poison.length) {
    const command = new ReceiveMessageCommand({
      QueueUrl: dead.url,
      MaxNumberOfMessages: 10,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    });
    const { Messages = [] } = await client.send(command);
    assert.notEqual(Messages.length, 0, `after ${seen.length} of ${poison.length} dead letters`);
    seen.push(...Messages);
    await giveBack(dead, seen.length === poison.length ? seen : []);
  }
  assert.deepEqual(seen.map(numberOf).sort((a, b) => a - b), poison);
  for (const { Attributes } of seen) {
    assert.equal(Attributes.DeadLetterQueueSourceArn, work.arn);
    assert.equal(Attributes.ApproximateReceiveCount, String(maxReceives + 1));
  }
}

async function giveBack(queue, messages) {
  for (let start = 0; start < messages.length; start += 10) {
    const Entries = messages.slice(start, start + 10).map(({ MessageId, ReceiptHandle }) => {
      return { Id: MessageId, ReceiptHandle, VisibilityTimeout: 0 };
    });
    const command = new ChangeMessageVisibilityBatchCommand({ QueueUrl: queue.url, Entries });
    assert.equal((await client.send(command)).Failed, undefined);
  }
}

export async function redrive({ work, dead }, count) {
  await client.send(new StartMessageMoveTaskCommand({ SourceArn: dead.arn }));
  let task;
  const completed = async () => {
    const command = new ListMessageMoveTasksCommand({ SourceArn: dead.arn });
    task = (await client.send(command)).Results[0];
    return task.Status === 'COMPLETED';
  };
  await until('the move task completes', completed, 20_000);
  assert.equal(task.ApproximateNumberOfMessagesMoved, count);
  assert.deepEqual(await counts(dead), [0, 0, 0]);
  assert.deepEqual(await counts(work), [count, 0, 0]);
}

export async function removePair({ work, dead }) {
  for (const queue of [work, dead]) {
    assert.deepEqual(await counts(queue), [0, 0, 0], 'after the last message');
    await client.send(new DeleteQueueCommand({ QueueUrl: queue.url }));
  }
}
