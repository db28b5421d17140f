// What a JavaScript program sees when the server refuses: typed errors, codes, fault, status.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as sqs from '@aws-sdk/client-sqs';
import { createQueue, receive, send } from './helpers.mjs';
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

const prefix = 'AWS.SimpleQueueService.';
const entries = (count) =>
  Array.from({ length: count }, (_, n) => ({ Id: `${n}`, MessageBody: 'b' }));
const queueUrl = () => createQueue(client);

// Each row: what is asked, the name, the code of the older protocol, the status, the class.
const refusals = [
  {
    situation: 'a missing queue',
    ask: () => client.send(new sqs.GetQueueUrlCommand({ QueueName: uniqueName('missing') })),
    name: 'QueueDoesNotExist',
    code: `${prefix}NonExistentQueue`,
    type: sqs.QueueDoesNotExist,
    message: 'The specified queue does not exist.',
  },
  {
    situation: 'creating again with another value',
    ask: async () => {
      const QueueName = uniqueName();
      await client.send(new sqs.CreateQueueCommand({ QueueName }));
      const Attributes = { DelaySeconds: '5' };
      await client.send(new sqs.CreateQueueCommand({ QueueName, Attributes }));
    },
    name: 'QueueNameExists',
    code: 'QueueAlreadyExists',
    type: sqs.QueueNameExists,
  },
  {
    situation: 'an unknown attribute',
    ask: async () => {
      const Attributes = { Bogus: '1' };
      await client.send(
        new sqs.SetQueueAttributesCommand({ QueueUrl: await queueUrl(), Attributes }),
      );
    },
    name: 'InvalidAttributeName',
    code: 'InvalidAttributeName',
    type: sqs.InvalidAttributeName,
    message: 'Unknown Attribute Bogus.',
  },
  {
    situation: 'an attribute out of range',
    ask: async () => {
      const Attributes = { DelaySeconds: '901' };
      await client.send(
        new sqs.SetQueueAttributesCommand({ QueueUrl: await queueUrl(), Attributes }),
      );
    },
    name: 'InvalidAttributeValue',
    code: 'InvalidAttributeValue',
    type: sqs.InvalidAttributeValue,
  },
  {
    situation: 'a character that may not be in a body',
    ask: async () => send(client, await queueUrl(), 'a\u0001b'),
    name: 'InvalidMessageContents',
    code: 'InvalidMessageContents',
    type: sqs.InvalidMessageContents,
  },
  {
    situation: 'a garbage receipt handle',
    ask: async () =>
      client.send(
        new sqs.DeleteMessageCommand({ QueueUrl: await queueUrl(), ReceiptHandle: 'garbage' }),
      ),
    name: 'ReceiptHandleIsInvalid',
    code: 'ReceiptHandleIsInvalid',
    status: 404,
    type: sqs.ReceiptHandleIsInvalid,
    message: 'The input receipt handle "garbage" is not a valid receipt handle.',
  },
  {
    situation: 'an empty body',
    ask: async () => send(client, await queueUrl(), ''),
    name: 'MissingParameter', // Not in the SDK's model: it shows the older code.
    code: 'MissingParameter',
    message: 'The request must contain the parameter MessageBody.',
  },
  {
    situation: 'too many messages asked for',
    ask: async () => receive(client, await queueUrl(), { MaxNumberOfMessages: 11 }),
    name: 'InvalidParameterValue', // Likewise.
    code: 'InvalidParameterValue',
    message:
      'Value 11 for parameter MaxNumberOfMessages is invalid. ' +
      'Reason: Must be between 1 and 10, if provided.',
  },
  {
    situation: 'eleven entries in a batch',
    ask: async () =>
      client.send(
        new sqs.SendMessageBatchCommand({ QueueUrl: await queueUrl(), Entries: entries(11) }),
      ),
    name: 'TooManyEntriesInBatchRequest',
    code: `${prefix}TooManyEntriesInBatchRequest`,
    type: sqs.TooManyEntriesInBatchRequest,
  },
  {
    situation: 'no entries in a batch',
    ask: async () =>
      client.send(new sqs.SendMessageBatchCommand({ QueueUrl: await queueUrl(), Entries: [] })),
    name: 'EmptyBatchRequest',
    code: `${prefix}EmptyBatchRequest`,
    type: sqs.EmptyBatchRequest,
  },
  {
    situation: 'equal ids in a batch',
    ask: async () => {
      const Entries = [...entries(1), ...entries(1)];
      await client.send(new sqs.SendMessageBatchCommand({ QueueUrl: await queueUrl(), Entries }));
    },
    name: 'BatchEntryIdsNotDistinct',
    code: `${prefix}BatchEntryIdsNotDistinct`,
    type: sqs.BatchEntryIdsNotDistinct,
  },
  {
    situation: 'a batch that is too long',
    ask: async () => {
      const Entries = entries(2).map(({ Id }) => ({ Id, MessageBody: 'x'.repeat(600_000) }));
      await client.send(new sqs.SendMessageBatchCommand({ QueueUrl: await queueUrl(), Entries }));
    },
    name: 'BatchRequestTooLong',
    code: `${prefix}BatchRequestTooLong`,
    type: sqs.BatchRequestTooLong,
  },
  {
    situation: 'a second purge',
    ask: async () => {
      const input = { QueueUrl: await queueUrl() };
      await client.send(new sqs.PurgeQueueCommand(input));
      await client.send(new sqs.PurgeQueueCommand(input));
    },
    name: 'PurgeQueueInProgress',
    code: `${prefix}PurgeQueueInProgress`,
    status: 403,
    type: sqs.PurgeQueueInProgress,
  },
  {
    situation: 'a move task of a missing queue',
    ask: () =>
      client.send(
        new sqs.StartMessageMoveTaskCommand({
          SourceArn: 'arn:aws:sqs:us-east-1:000000000000:no-such-queue',
        }),
      ),
    name: 'ResourceNotFoundException',
    code: 'ResourceNotFoundException',
    status: 404,
    type: sqs.ResourceNotFoundException,
  },
];

for (const { situation, ask, name, code, status = 400, type, message } of refusals) {
  test(`${situation} is a ${name}`, async () => {
    const error = await ask().then(
      () => assert.fail(`${situation} was accepted`),
      (reason) => reason,
    );
    assert.equal(error.name, name);
    assert.equal(error.Code ?? error.Error?.Code, code, 'the code of x-amzn-query-error');
    assert.equal(error.$fault, 'client');
    assert.equal(error.$metadata.httpStatusCode, status);
    assert.ok(error.$metadata.requestId);
    if (type) assert.ok(error instanceof type, `${name} is the SDK's own class`);
    if (message) assert.equal(error.message, message);
  });
}
