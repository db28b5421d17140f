// sqs-producer sends, sqs-consumer works: one message at a time, in batches, in FIFO groups.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Consumer } from 'sqs-consumer';
import { Producer } from 'sqs-producer';
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
  until,
} from './queues.mjs';

const consumers = 3;
const visibilitySeconds = 2;
const dayMillisecondsMax = 80_000;
// The library's heartbeat goes on while the delete is under way and may arrive after it.
const crossed = 'Message does not exist or is not available for visibility timeout change.';

async function produce(queue, plan, more = () => ({})) {
  const producer = Producer.create({ queueUrl: queue.url, sqs: client });
  const messages = [...plan.keys()].map((n) => {
    const { body, attributes } = messageFor(n);
    return { id: `${n}`, body, messageAttributes: attributes, ...more(n) };
  });
  assert.equal((await producer.send(messages)).length, plan.size);
  assert.equal(await producer.queueSize(), plan.size);
}

// The work of one message; a slow one takes longer than the timeout, which heartbeats extend.
async function succeeds(book, message) {
  const n = numberOf(message);
  if (!book.deliver(n, message.Attributes.ApproximateReceiveCount)) return false;
  if (book.plan.get(n) === 'slow') await pause(visibilitySeconds * 1250);
  return true;
}

function oneByOne(book) {
  return {
    handleMessage: async (message) => {
      if (!(await succeeds(book, message))) throw new Error('failed as planned');
    },
    terminateVisibilityTimeout: ([message]) => (numberOf(message) % 80 < 40 ? 0 : 1),
  };
}

// Acknowledges those that succeeded; the others come back when their timeout has ended.
function inBatches(book) {
  return {
    handleMessageBatch: async (messages) => {
      const results = await Promise.all(messages.map((message) => succeeds(book, message)));
      return messages.filter((_, place) => results[place]);
    },
  };
}

function startConsumer(queue, book, errors, options) {
  const consumer = Consumer.create({
    queueUrl: queue.url,
    sqs: client,
    waitTimeSeconds: 1,
    visibilityTimeout: visibilitySeconds,
    heartbeatInterval: 1,
    messageAttributeNames: ['All'],
    messageSystemAttributeNames: ['All'],
    suppressFifoWarning: true,
    ...options,
  });
  consumer.on('message_processed', (message) => book.succeed(numberOf(message)));
  consumer.on('error', (error) => {
    if (!error.message.includes(crossed)) errors.push(error.message);
  });
  consumer.on('processing_error', (error) => {
    if (!error.message.endsWith('failed as planned')) errors.push(error.message);
  });
  consumer.start();
  return consumer;
}

// Several consumers until nothing is left in the queue; the book tells whether all was there.
async function work(queue, plan, options) {
  const book = new Book(plan);
  const errors = [];
  const running = Array.from({ length: consumers }, () => {
    return startConsumer(queue, book, errors, options(book));
  });
  const finished = async () => errors.length > 0 || (await isEmpty(queue));
  try {
    await until('the work is done', finished, dayMillisecondsMax);
  } finally {
    for (const consumer of running) consumer.stop();
  }
  assert.deepEqual(errors, []);
  // A consumer tells of a message after the server has deleted it.
  await until('every poll has ended', () => running.every((each) => !each.status.isPolling), 5000);
  book.check();
  return book;
}

async function redriveAndWork(pair, plan, options) {
  const poison = poisonOf(plan);
  await checkDeadLetters(pair, poison);
  await redrive(pair, poison.length);
  await work(pair.work, new Map(poison.map((n) => [n, 'ok'])), options);
  await removePair(pair);
}

test('sqs-producer and sqs-consumer', { concurrency: true }, async (t) => {
  const single = t.test('400 messages, one handler call each', async () => {
    const pair = await createPair();
    const plan = fates(400, standardFate);
    const options = (book) => ({ batchSize: 10, ...oneByOne(book) });
    await produce(pair.work, plan);
    await work(pair.work, plan, options);
    await redriveAndWork(pair, plan, options);
  });
  const batches = t.test('400 messages, a handler for batches', async () => {
    const pair = await createPair();
    const plan = fates(400, standardFate);
    const options = (book) => ({ batchSize: 10, ...inBatches(book) });
    await produce(pair.work, plan);
    await work(pair.work, plan, options);
    await redriveAndWork(pair, plan, options);
  });
  const fifo = t.test('200 messages in ten groups of a FIFO queue', async () => {
    const pair = await createPair({ fifo: true });
    const plan = fates(200, fifoFate);
    const options = (book) => ({ batchSize: 1, ...oneByOne(book) });
    await produce(pair.work, plan, (n) => ({ groupId: groupOf(n), deduplicationId: `${n}` }));
    (await work(pair.work, plan, options)).checkOrder();
    await redriveAndWork(pair, plan, options);
  });
  await Promise.all([single, batches, fifo]);
});
