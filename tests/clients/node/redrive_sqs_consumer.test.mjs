// redrive-sqs-consumer: what a handler throws stands in the message's history.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { Consumer } from 'sqs-consumer';
import { isRedrive, Permanent, report, reportFailures } from 'redrive-sqs-consumer';
import { client, counts, createPair, until } from './queues.mjs';

const patience = 60_000;

async function work(pair, handlers, options) {
  const errors = [];
  const consumer = reportFailures(
    Consumer.create({
      queueUrl: pair.work.url,
      sqs: client,
      waitTimeSeconds: 1,
      terminateVisibilityTimeout: true,
      ...handlers,
    }),
    options,
  );
  consumer.on('error', (error) => errors.push(error.message));
  consumer.on('processing_error', () => {});
  consumer.start();
  return { errors, stop: () => consumer.stop() };
}

function send(queue, body) {
  return client.send(new SendMessageCommand({ QueueUrl: queue.url, MessageBody: body }));
}

async function deadLetters(queue) {
  const name = queue.url.split('/').pop();
  const answer = await fetch(`${process.env.REDRIVE_ENDPOINT}/_redrive/v1/queues/${name}/messages?limit=100`);
  return (await answer.json()).messages ?? [];
}

test('redrive-sqs-consumer', { concurrency: true }, async (t) => {
  const both = t.test('errors are reported, permanent ones are dead letters at once', async () => {
    const pair = await createPair();
    await send(pair.work, 'retry');
    await send(pair.work, 'never');
    await send(pair.work, 'wrong type');
    await send(pair.work, 'good');
    const handleMessage = async ({ Body }) => {
      if (Body === 'retry') throw new RangeError('later', { cause: new TypeError('no price') });
      if (Body === 'never') throw new Permanent('no store');
      if (Body === 'wrong type') throw new SyntaxError('not an order');
    };
    const isPermanent = (error) => error instanceof SyntaxError;
    const consumer = await work(pair, { handleMessage }, { isPermanent });
    await until('all are settled', async () => (await counts(pair.dead))[0] === 3, patience);
    consumer.stop();
    assert.deepEqual(consumer.errors, []);
    const found = new Map((await deadLetters(pair.dead)).map((each) => [each.body, each]));
    const types = (body) => found.get(body).attempts.map((attempt) => `${attempt.end} ${attempt.errorType}`);
    assert.deepEqual(types('never'), ['failed Permanent']);
    assert.deepEqual(types('wrong type'), ['failed SyntaxError']);
    assert.ok(types('retry').length > 1);
    assert.ok(types('retry').every((each) => each === 'failed RangeError'), types('retry'));
    const { stackTrace } = found.get('retry').attempts[0];
    assert.match(stackTrace, /^RangeError: later\n {4}at .*redrive_sqs_consumer\.test\.mjs/);
    assert.match(stackTrace, /\nCaused by: TypeError: no price\n {4}at /);
  });

  const batches = t.test('an error of a batch is that of all its messages', async () => {
    const pair = await createPair();
    for (const body of ['a', 'b', 'c']) await send(pair.work, body);
    const handleMessageBatch = async () => {
      throw new Permanent('all or one');
    };
    const consumer = await work(pair, { handleMessageBatch, batchSize: 10 });
    await until('all are dead', async () => (await counts(pair.dead))[0] === 3, patience);
    consumer.stop();
    for (const { attempts } of await deadLetters(pair.dead)) {
      for (const attempt of attempts) assert.equal(attempt.errorMessage, 'all or one');
    }
  });

  const elsewhere = t.test('nothing is sent to other servers', async () => {
    const requests = [];
    const server = createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`);
      response.end('<ErrorResponse/>');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const queueUrl = `http://127.0.0.1:${server.address().port}/000000000000/orders`;
    const sqs = new SQSClient({ region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
    for (let i = 0; i < 3; ++i) assert.equal(await report(sqs, queueUrl, { ReceiptHandle: 'x' }, new Permanent('x')), false);
    assert.deepEqual(requests, ['GET /']);
    assert.equal(await isRedrive('https://sqs.eu-west-1.amazonaws.com/1/q'), false);
    assert.equal(await isRedrive('https://sqs.cn-north-1.amazonaws.com.cn/1/q'), false);
    server.close();
  });

  const modules = t.test('require works, too', () => {
    const required = createRequire(import.meta.url)('redrive-sqs-consumer');
    assert.equal(required.Permanent, Permanent);
  });
  await Promise.all([both, batches, elsewhere, modules]);
});
