// Short names for the calls every test makes.
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
} from '@aws-sdk/client-sqs';
import { uniqueName } from './server.mjs';

export async function createQueue(client, { fifo = false, attributes = {} } = {}) {
  const QueueName = uniqueName('js', fifo);
  const Attributes = { ...(fifo ? { FifoQueue: 'true' } : {}), ...attributes };
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName, Attributes }));
  return QueueUrl;
}

export async function attributesOf(client, QueueUrl, AttributeNames = ['All']) {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames });
  return (await client.send(command)).Attributes ?? {};
}

export async function arnOf(client, QueueUrl) {
  return (await attributesOf(client, QueueUrl, ['QueueArn'])).QueueArn;
}

export function send(client, QueueUrl, MessageBody, more = {}) {
  return client.send(new SendMessageCommand({ QueueUrl, MessageBody, ...more }));
}

export async function receive(client, QueueUrl, more = {}) {
  const command = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, ...more });
  return (await client.send(command)).Messages ?? [];
}

export async function bodies(client, QueueUrl, more = {}) {
  return (await receive(client, QueueUrl, more)).map((message) => message.Body);
}

export async function redriveTo(client, source, target, maxReceiveCount) {
  const deadLetterTargetArn = await arnOf(client, target);
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount });
  const input = { QueueUrl: source, Attributes: { RedrivePolicy } };
  await client.send(new SetQueueAttributesCommand(input));
}

export function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

// Polls until `condition` gives something true; names `rule` when it never does.
export async function until(rule, condition, milliseconds = 5000) {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    const result = await condition();
    if (result) return result;
    if (Date.now() > deadline) throw new Error(`${rule}: did not happen in ${milliseconds} ms`);
    await pause(50);
  }
}
