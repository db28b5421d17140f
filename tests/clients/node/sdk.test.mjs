// The AWS SDK for JavaScript: a consumer written with nothing but its commands.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
} from '@aws-sdk/client-sqs';
import { Book, fates, fifoFate, groupOf, poisonOf, standardFate } from './plan.mjs';
import {
  checkDeadLetters,
  client,
  createPair,
  isEmpty,
  messageFor,
  numberOf,
  pause,
  redrive,
  removePair,
} from './queues.mjs';

const consumers = 3;
const holdSeconds = 2;
const daySecondsMax = 80;

async function sendAll(queue, count, more) {
  for (let start = 0; start < count; start += 10) {
    const Entries = Array.from({ length: 10 }, (_, place) => {
      const { body, attributes } = messageFor(start + place);
      const Id = `${start + place}`;
      return { Id, MessageBody: body, MessageAttributes: attributes, ...more(start + place) };
    });
    const command = new SendMessageBatchCommand({ QueueUrl: queue.url, Entries });
    assert.equal((await client.send(command)).Successful.length, 10);
  }
}

async function receive(queue, MaxNumberOfMessages) {
  const command = new ReceiveMessageCommand({
    QueueUrl: queue.url,
    MaxNumberOfMessages,
    WaitTimeSeconds: 1,
    MessageAttributeNames: ['All'],
    MessageSystemAttributeNames: ['ApproximateReceiveCount'],
  });
  return (await client.send(command)).Messages ?? [];
}

function changeVisibility(queue, { ReceiptHandle }, VisibilityTimeout) {
  const input = { QueueUrl: queue.url, ReceiptHandle, VisibilityTimeout };
  return client.send(new ChangeMessageVisibilityCommand(input));
}

// True if the work succeeded. A failure gives the message back, at once or a second later.
async function handle(queue, book, message) {
  const n = numberOf(message);
  if (book.deliver(n, message.Attributes.ApproximateReceiveCount)) return true;
  await changeVisibility(queue, message, n % 80 < 40 ? 0 : 1);
  return false;
}

// Works for longer than the timeout of the moment, extending it before it ends.
async function hold(queue, message) {
  await changeVisibility(queue, message, holdSeconds);
  for (let beat = 0; beat < 3; ++beat) {
    await pause(holdSeconds * 400);
    await changeVisibility(queue, message, holdSeconds);
  }
}

async function finish(queue, book, messages) {
  const handles = messages.map(({ MessageId: Id, ReceiptHandle }) => ({ Id, ReceiptHandle }));
  if (messages.length === 1) {
    const [{ ReceiptHandle }] = handles;
    await client.send(new DeleteMessageCommand({ QueueUrl: queue.url, ReceiptHandle }));
  } else if (messages.length > 1) {
    const command = new DeleteMessageBatchCommand({ QueueUrl: queue.url, Entries: handles });
    assert.equal((await client.send(command)).Successful.length, messages.length);
  }
  for (const message of messages) book.succeed(numberOf(message));
}

async function consume(queue, book, batch) {
  const deadline = Date.now() + daySecondsMax * 1000;
  while (!(await isEmpty(queue))) {
    assert.ok(Date.now() < deadline, 'the work is not done in time');
    const done = [];
    const slow = [];
    for (const message of await receive(queue, batch)) {
      if (!(await handle(queue, book, message))) continue;
      (book.plan.get(numberOf(message)) === 'slow' ? slow : done).push(message);
    }
    await finish(queue, book, done);
    for (const message of slow) {
      await hold(queue, message);
      await finish(queue, book, [message]);
    }
  }
}

async function work(queue, plan, batch) {
  const book = new Book(plan);
  await Promise.all(Array.from({ length: consumers }, () => consume(queue, book, batch)));
  book.check();
  return book;
}

async function redriveAndWork(pair, plan, batch) {
  const poison = poisonOf(plan);
  await checkDeadLetters(pair, poison);
  await redrive(pair, poison.length);
  await work(pair.work, new Map(poison.map((n) => [n, 'ok'])), batch);
  await removePair(pair);
}

test('the SDK for JavaScript', { concurrency: true }, async (t) => {
  const standard = t.test('800 messages in a standard queue', async () => {
    const pair = await createPair();
    const plan = fates(800, standardFate);
    await sendAll(pair.work, plan.size, () => ({}));
    await work(pair.work, plan, 10);
    await redriveAndWork(pair, plan, 10);
  });
  const fifo = t.test('200 messages in ten groups of a FIFO queue', async () => {
    const pair = await createPair({ fifo: true });
    const plan = fates(200, fifoFate);
    await sendAll(pair.work, plan.size, (n) => {
      return { MessageGroupId: groupOf(n), MessageDeduplicationId: `${n}` };
    });
    // One at a time: what comes after a failure in a batch would be given back and counted, too.
    (await work(pair.work, plan, 1)).checkOrder();
    await redriveAndWork(pair, plan, 1);
  });
  await Promise.all([standard, fifo]);
});
