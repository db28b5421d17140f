// Hours and days of an SQS consumer's life, each test in milliseconds.
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { startRedrive } from './redrive.js';
import { work } from './worker.js';

const DAY = 86_400;
let redrive;
let sqs;

beforeAll(async () => {
  redrive = await startRedrive();
  sqs = redrive.sqs;
});
beforeEach(() => redrive.reset());
afterAll(() => redrive.stop());

async function createQueue(QueueName = 'orders', Attributes = {}) {
  return (await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl;
}

const send = (QueueUrl, MessageBody) => sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));

async function attribute(QueueUrl, name) {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [name] });
  return (await sqs.send(command)).Attributes[name];
}

const waiting = async (url) => Number(await attribute(url, 'ApproximateNumberOfMessages'));

// Fails as often as it is told to.
function failing(times) {
  let left = times;
  return vi.fn(async () => {
    if (left-- > 0) throw new Error('no luck');
  });
}

test('a worker that dies loses nothing', async () => {
  const url = await createQueue('orders', { VisibilityTimeout: '300' });
  await send(url, 'order 17');
  // A consumer receives it and crashes.
  await sqs.send(new ReceiveMessageCommand({ QueueUrl: url }));

  const handle = failing(0);
  await redrive.advance(299);
  expect(await work(sqs, url, handle)).toBe(0);
  await redrive.advance(1);
  expect(await work(sqs, url, handle)).toBe(1);
  expect(handle.mock.calls).toEqual([['order 17']]);
});

test('a delayed order waits its quarter of an hour', async () => {
  const url = await createQueue('orders', { DelaySeconds: '900' });
  await send(url, 'remind me');
  await redrive.advance(899);
  expect(await work(sqs, url, failing(0))).toBe(0);
  await redrive.advance(1);
  expect(await work(sqs, url, failing(0))).toBe(1);
});

test('an order nobody takes is gone after four days', async () => {
  const url = await createQueue('orders', { MessageRetentionPeriod: String(4 * DAY) });
  await send(url, 'too late');
  await redrive.advance(4 * DAY - 1);
  expect(await waiting(url)).toBe(1);
  await redrive.advance(1);
  expect(await waiting(url)).toBe(0);
});

test('each failure doubles the pause', async () => {
  const url = await createQueue();
  await send(url, 'order 17');
  const handle = failing(4);
  await work(sqs, url, handle);
  for (const pause of [10, 20, 40, 80]) {
    const before = handle.mock.calls.length;
    await redrive.advance(pause - 1);
    await work(sqs, url, handle);
    expect(handle).toHaveBeenCalledTimes(before);
    await redrive.advance(1);
    await work(sqs, url, handle);
    expect(handle).toHaveBeenCalledTimes(before + 1);
  }
  expect(await waiting(url)).toBe(0);
});

test('what always fails ends in the dead-letter queue', async () => {
  const dead = await createQueue('orders-dlq');
  const deadLetterTargetArn = await attribute(dead, 'QueueArn');
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 3 });
  const url = await createQueue('orders', { RedrivePolicy });
  await send(url, 'poison');

  const handle = failing(100);
  for (let hour = 0; hour < 10; hour += 1) {
    await work(sqs, url, handle);
    await redrive.advance(3600);
  }
  expect(handle).toHaveBeenCalledTimes(3);
  const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl: dead }));
  expect(Messages[0].Body).toBe('poison');
});
