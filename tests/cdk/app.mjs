// The orders of some stores on the CDK: a queue that gives up after two failures, its dead-letter
// queue, a producer and a consumer, both fed by queues. Synthesised into the directory that is named.

import * as cdk from 'aws-cdk-lib';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as sources from 'aws-cdk-lib/aws-lambda-event-sources';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { fileURLToPath } from 'node:url';
import path from 'node:path';

const here = path.dirname(fileURLToPath(import.meta.url));
const app = new cdk.App({ outdir: process.argv[2] });
const stack = new cdk.Stack(app, 'Stores', {
  env: { account: '000000000000', region: 'us-east-1' },
});

const dead = new sqs.Queue(stack, 'Dead', {
  queueName: 'dlq_for_reliable_q',
  retentionPeriod: cdk.Duration.days(14),
});
const orders = new sqs.Queue(stack, 'Orders', {
  queueName: 'reliable_q',
  visibilityTimeout: cdk.Duration.seconds(30),
  deadLetterQueue: { queue: dead, maxReceiveCount: 2 },
});
const triggers = new sqs.Queue(stack, 'Triggers');

// Code in the template.
const producer = new lambda.Function(stack, 'Producer', {
  runtime: lambda.Runtime.NODEJS_20_X,
  handler: 'index.handler',
  code: lambda.Code.fromInline('exports.handler = async (event) => event.Records.length;'),
  environment: { QUEUE_URL: orders.queueUrl },
});
producer.addEventSource(new sources.SqsEventSource(triggers, { batchSize: 1 }));

// Code in a directory: an asset.
const consumer = new lambda.Function(stack, 'Consumer', {
  runtime: lambda.Runtime.PYTHON_3_11,
  handler: 'index.handler',
  timeout: cdk.Duration.seconds(10),
  code: lambda.Code.fromAsset(path.join(here, 'consumer')),
  environment: { STORE: 'any' },
});
consumer.addEventSource(
  new sources.SqsEventSource(orders, { batchSize: 10, reportBatchItemFailures: true }),
);

app.synth();
