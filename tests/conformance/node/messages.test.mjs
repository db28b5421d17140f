// Sending, receiving and deleting through the SDK, which checks every body digest itself.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
} from '@aws-sdk/client-sqs';
import { attributesOf, bodies, createQueue, pause, receive, send } from './helpers.mjs';
import { connect, startServer } from './server.mjs';

let server;
let client;
before(async () => {
  server = await startServer();
  client = connect(server.endpoint);
});
after(async () => {
  client.destroy();
  assert.equal(await server.stop(), 0, 'SIGTERM ends the server with code 0');
});

test('send, receive, delete', async () => {
  const queue = await createQueue(client);
  const sent = await send(client, queue, 'h€llo wörld');
  assert.equal(sent.MD5OfMessageBody, '10aec6d5b3cc8bda7a649d464305d720');
  const [message] = await receive(client, queue);
  assert.equal(message.Body, 'h€llo wörld');
  assert.equal(message.MessageId, sent.MessageId);
  const { ReceiptHandle } = message;
  await client.send(new DeleteMessageCommand({ QueueUrl: queue, ReceiptHandle }));
  const counters = await attributesOf(client, queue);
  assert.equal(counters.ApproximateNumberOfMessages, '0');
  assert.equal(counters.ApproximateNumberOfMessagesNotVisible, '0');
});

test('an empty receive has no Messages member', async () => {
  const queue = await createQueue(client);
  assert.deepEqual(await receive(client, queue), []);
});

const difficult = ['one\r\ntwo\r', '"quoted" &quot; <&>', '🚀 \u{10ffff}', '\\u0041', '  '];
for (const body of difficult) {
  test(`the body ${JSON.stringify(body)} comes back unchanged`, async () => {
    const queue = await createQueue(client);
    await send(client, queue, body);
    assert.deepEqual(await bodies(client, queue), [body]);
  });
}

test('message attributes and their digest', async () => {
  const queue = await createQueue(client);
  const MessageAttributes = {
    Bin: { DataType: 'Binary', BinaryValue: Uint8Array.of(0, 1, 2, 255) },
    color: { DataType: 'String', StringValue: 'blue' },
    price: { DataType: 'Number.float', StringValue: '12.50' },
  };
  const sent = await send(client, queue, 'b', { MessageAttributes });
  assert.equal(sent.MD5OfMessageAttributes, 'bc4d10d9f31639fa3fe39b4383ae73be');
  const [message] = await receive(client, queue, { MessageAttributeNames: ['All'] });
  assert.equal(message.MD5OfMessageAttributes, 'bc4d10d9f31639fa3fe39b4383ae73be');
  assert.deepEqual([...message.MessageAttributes.Bin.BinaryValue], [0, 1, 2, 255]);
  assert.equal(message.MessageAttributes.price.DataType, 'Number.float');
  assert.equal(message.MessageAttributes.price.StringValue, '12.50');
});

test('system attributes through both lists', async () => {
  const queue = await createQueue(client);
  await send(client, queue, 'b');
  // sqs-consumer sends the empty older list beside the newer one.
  const lists = { AttributeNames: [], MessageSystemAttributeNames: ['All'] };
  const [message] = await receive(client, queue, { ...lists, VisibilityTimeout: 0 });
  assert.equal(message.Attributes.ApproximateReceiveCount, '1');
  assert.match(message.Attributes.SentTimestamp, /^\d{13}$/);
  const [again] = await receive(client, queue, { AttributeNames: ['ApproximateReceiveCount'] });
  assert.deepEqual(again.Attributes, { ApproximateReceiveCount: '2' });
});

test('batches report each entry', async () => {
  const queue = await createQueue(client, { attributes: { MaximumMessageSize: '1024' } });
  const sent = await client.send(
    new SendMessageBatchCommand({
      QueueUrl: queue,
      Entries: [
        { Id: 'a', MessageBody: 'one' },
        { Id: 'b', MessageBody: 'x'.repeat(1025) },
        { Id: 'c', MessageBody: 'two' },
      ],
    }),
  );
  assert.deepEqual(sent.Successful.map((entry) => entry.Id).sort(), ['a', 'c']);
  assert.equal(sent.Failed[0].Code, 'InvalidParameterValue');
  assert.equal(sent.Failed[0].SenderFault, true);

  const messages = await receive(client, queue);
  assert.equal(messages.length, 2);
  const visible = await client.send(
    new ChangeMessageVisibilityBatchCommand({
      QueueUrl: queue,
      Entries: messages.map((message, n) => ({
        Id: `${n}`,
        ReceiptHandle: message.ReceiptHandle,
        VisibilityTimeout: 0,
      })),
    }),
  );
  assert.equal(visible.Successful.length, 2);
  assert.equal(visible.Failed, undefined);

  const again = await receive(client, queue);
  const deleted = await client.send(
    new DeleteMessageBatchCommand({
      QueueUrl: queue,
      Entries: [
        ...again.map((message, n) => ({ Id: `${n}`, ReceiptHandle: message.ReceiptHandle })),
        { Id: 'bad', ReceiptHandle: 'garbage' },
      ],
    }),
  );
  assert.equal(deleted.Successful.length, 2);
  assert.equal(deleted.Failed[0].Code, 'ReceiptHandleIsInvalid');
});

test('visibility timeouts hide and release', async () => {
  const queue = await createQueue(client);
  await send(client, queue, 'm');
  const [{ ReceiptHandle }] = await receive(client, queue, { VisibilityTimeout: 60 });
  assert.deepEqual(await bodies(client, queue), []);
  const release = { QueueUrl: queue, ReceiptHandle, VisibilityTimeout: 0 };
  await client.send(new ChangeMessageVisibilityCommand(release));
  assert.deepEqual(await bodies(client, queue), ['m']);
});

test('a long poll ends when a message arrives', async () => {
  const queue = await createQueue(client);
  const started = Date.now();
  const poll = bodies(client, queue, { WaitTimeSeconds: 15 });
  await pause(200);
  await send(client, queue, 'wake up');
  assert.deepEqual(await poll, ['wake up']);
  assert.ok(Date.now() - started < 5000, 'it does not wait its full time');
});

test('an aborted long poll swallows no message', async () => {
  const queue = await createQueue(client);
  const own = connect(server.endpoint);
  const abort = new AbortController();
  const command = new ReceiveMessageCommand({ QueueUrl: queue, WaitTimeSeconds: 15 });
  const poll = own.send(command, { abortSignal: abort.signal });
  await pause(200);
  abort.abort();
  await assert.rejects(poll);
  await pause(200);
  await send(client, queue, 'for the living');
  assert.deepEqual(await bodies(client, queue), ['for the living']);
  own.destroy();
});

test('one mebibyte passes and one byte more does not', async () => {
  const queue = await createQueue(client);
  await send(client, queue, 'x'.repeat(1048576));
  assert.equal((await bodies(client, queue))[0].length, 1048576);
  await assert.rejects(send(client, queue, 'x'.repeat(1048577)), /shorter than 1048576 bytes/);
});
