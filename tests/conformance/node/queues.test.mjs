// Queues, FIFO, dead letters and move tasks through the SDK.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  AddPermissionCommand,
  CancelMessageMoveTaskCommand,
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueUrlCommand,
  ListDeadLetterSourceQueuesCommand,
  ListMessageMoveTasksCommand,
  ListQueuesCommand,
  ListQueueTagsCommand,
  PurgeQueueCommand,
  RemovePermissionCommand,
  SetQueueAttributesCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
  TagQueueCommand,
  UntagQueueCommand,
  paginateListQueues,
} from '@aws-sdk/client-sqs';
import {
  arnOf, attributesOf, bodies, createQueue, receive, redriveTo, send, until,
} from './helpers.mjs';
import { connect, startServer, uniqueName } from './server.mjs';

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

test('create, find, list, delete', async () => {
  const QueueName = uniqueName();
  const { QueueUrl } = await client.send(
    new CreateQueueCommand({ QueueName, Attributes: { VisibilityTimeout: '60' } }),
  );
  assert.equal(QueueUrl, `${server.endpoint}/000000000000/${QueueName}`);
  assert.equal((await client.send(new GetQueueUrlCommand({ QueueName }))).QueueUrl, QueueUrl);
  const listed = await client.send(new ListQueuesCommand({ QueueNamePrefix: QueueName }));
  assert.deepEqual(listed.QueueUrls, [QueueUrl]);
  await client.send(new DeleteQueueCommand({ QueueUrl }));
  const none = await client.send(new ListQueuesCommand({ QueueNamePrefix: QueueName }));
  assert.equal(none.QueueUrls, undefined);
});

test('the paginator sees every queue once', async () => {
  const prefix = uniqueName('page');
  for (let n = 0; n < 5; ++n) {
    await client.send(new CreateQueueCommand({ QueueName: `${prefix}-${n}` }));
  }
  const seen = [];
  const pages = paginateListQueues({ client, pageSize: 2 }, { QueueNamePrefix: prefix });
  for await (const page of pages) seen.push(...(page.QueueUrls ?? []));
  assert.equal(seen.length, 5);
  assert.equal(new Set(seen).size, 5);
});

test('a client without an endpoint follows the queue URL', async () => {
  const queue = await createQueue(client);
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const follower = new SQSClient({ region: 'us-east-1', credentials, maxAttempts: 1 });
  await send(follower, queue, 'by URL');
  assert.deepEqual(await bodies(client, queue), ['by URL']);
  follower.destroy();
});

test('attributes are strings and can be changed', async () => {
  const queue = await createQueue(client);
  const found = await attributesOf(client, queue);
  assert.equal(Object.keys(found).length, 12);
  assert.equal(found.MaximumMessageSize, '1048576');
  const Attributes = { VisibilityTimeout: '7' };
  await client.send(new SetQueueAttributesCommand({ QueueUrl: queue, Attributes }));
  assert.equal((await attributesOf(client, queue)).VisibilityTimeout, '7');
});

test('tags and permissions', async () => {
  const queue = await createQueue(client);
  const QueueUrl = queue;
  const tags = async () => (await client.send(new ListQueueTagsCommand({ QueueUrl }))).Tags;
  await client.send(new TagQueueCommand({ QueueUrl, Tags: { a: '1', empty: '' } }));
  assert.deepEqual(await tags(), { a: '1', empty: '' });
  await client.send(new UntagQueueCommand({ QueueUrl, TagKeys: ['a', 'empty'] }));
  assert.equal(await tags(), undefined);

  const Label = 'friends';
  const permission = { AWSAccountIds: ['111111111111'], Actions: ['SendMessage'] };
  await client.send(new AddPermissionCommand({ QueueUrl, Label, ...permission }));
  const policy = JSON.parse((await attributesOf(client, queue)).Policy);
  assert.equal(policy.Statement[0].Sid, Label);
  await client.send(new RemovePermissionCommand({ QueueUrl, Label }));
  assert.equal((await attributesOf(client, queue)).Policy, undefined);
});

test('FIFO: order, deduplication, blocking', async () => {
  const queue = await createQueue(client, { fifo: true });
  const ids = (group, dedup) => ({ MessageGroupId: group, MessageDeduplicationId: dedup });
  const first = await send(client, queue, 'a1', ids('a', '1'));
  const second = await send(client, queue, 'a2', ids('a', '2'));
  const repeat = await send(client, queue, 'a1 again', ids('a', '1'));
  assert.equal(repeat.MessageId, first.MessageId);
  assert.ok(BigInt(second.SequenceNumber) > BigInt(first.SequenceNumber));
  await send(client, queue, 'b1', ids('b', '3'));
  assert.deepEqual(await bodies(client, queue, { MaxNumberOfMessages: 1 }), ['a1']);
  assert.deepEqual(await bodies(client, queue), ['b1'], 'group a is blocked by its first');
});

async function killMessages(source, target, names) {
  await redriveTo(client, source, target, 1);
  for (const name of names) await send(client, source, name);
  while ((await receive(client, source, { VisibilityTimeout: 0 })).length > 0);
}

test('dead letters keep their identity', async () => {
  const [source, target] = [await createQueue(client), await createQueue(client)];
  await killMessages(source, target, ['m']);
  const [message] = await receive(client, target, { MessageSystemAttributeNames: ['All'] });
  assert.equal(message.Body, 'm');
  assert.equal(message.Attributes.ApproximateReceiveCount, '2');
  assert.equal(message.Attributes.DeadLetterQueueSourceArn, await arnOf(client, source));
  const listed = await client.send(new ListDeadLetterSourceQueuesCommand({ QueueUrl: target }));
  assert.deepEqual(listed.queueUrls, [source]);
});

async function newestTask(SourceArn) {
  return (await client.send(new ListMessageMoveTasksCommand({ SourceArn }))).Results?.[0];
}

test('a move task takes dead letters home', async () => {
  const [source, target] = [await createQueue(client), await createQueue(client)];
  await killMessages(source, target, ['a', 'b', 'c']);
  const SourceArn = await arnOf(client, target);
  const { TaskHandle } = await client.send(new StartMessageMoveTaskCommand({ SourceArn }));
  assert.ok(TaskHandle);
  const task = await until('the task completes', async () => {
    const newest = await newestTask(SourceArn);
    return newest.Status === 'COMPLETED' && newest;
  });
  assert.equal(task.ApproximateNumberOfMessagesMoved, 3);
  assert.equal(typeof task.StartedTimestamp, 'number');
  assert.deepEqual((await bodies(client, source)).sort(), ['a', 'b', 'c']);
});

test('a move task can be cancelled', async () => {
  const [source, target] = [await createQueue(client), await createQueue(client)];
  await killMessages(source, target, ['a', 'b', 'c', 'd', 'e', 'f']);
  const SourceArn = await arnOf(client, target);
  const input = { SourceArn, MaxNumberOfMessagesPerSecond: 1 };
  const { TaskHandle } = await client.send(new StartMessageMoveTaskCommand(input));
  assert.equal((await newestTask(SourceArn)).Status, 'RUNNING');
  const answer = await client.send(new CancelMessageMoveTaskCommand({ TaskHandle }));
  assert.equal(typeof answer.ApproximateNumberOfMessagesMoved, 'number');
  await until('it is cancelled', async () => (await newestTask(SourceArn)).Status === 'CANCELLED');
});

test('purge empties a queue', async () => {
  const queue = await createQueue(client);
  await send(client, queue, 'm');
  await client.send(new PurgeQueueCommand({ QueueUrl: queue }));
  assert.deepEqual(await bodies(client, queue), []);
});

test('region and account come from the credentials', async () => {
  const credentials = { accessKeyId: '123456789012', secretAccessKey: 'test' };
  const other = connect(server.endpoint, { region: 'eu-west-1', credentials });
  const queue = await createQueue(other);
  const name = queue.split('/').at(-1);
  assert.equal(await arnOf(other, queue), `arn:aws:sqs:eu-west-1:123456789012:${name}`);
  other.destroy();
});
