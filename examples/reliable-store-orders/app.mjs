// The stores' orders as a CDK app: two queues, a producer, a consumer fed by the first queue.
//   node app.mjs DIRECTORY    synthesises into it; no cdk command and no account is needed.

import * as cdk from 'aws-cdk-lib';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as sources from 'aws-cdk-lib/aws-lambda-event-sources';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { fileURLToPath } from 'node:url';

const code = (name) => lambda.Code.fromAsset(fileURLToPath(new URL(name, import.meta.url)));
const app = new cdk.App({ outdir: process.argv[2] });
const stack = new cdk.Stack(app, 'Stores', {
  env: { account: '000000000000', region: 'us-east-1' },
});

const dead = new sqs.Queue(stack, 'DeadLetters', {
  queueName: 'dlq_for_reliable_q',
  retentionPeriod: cdk.Duration.days(14),
});
const orders = new sqs.Queue(stack, 'Orders', {
  queueName: 'reliable_q',
  visibilityTimeout: cdk.Duration.seconds(5),
  deadLetterQueue: { queue: dead, maxReceiveCount: 2 },
});

const producer = new lambda.Function(stack, 'SqsDataProducer', {
  functionName: 'store_producer',
  runtime: lambda.Runtime.PYTHON_3_11,
  handler: 'index.handler',
  timeout: cdk.Duration.seconds(60),
  code: code('producer'),
  environment: { QUEUE_URL: orders.queueUrl, RUN_SECONDS: process.env.RUN_SECONDS ?? '5' },
});
orders.grantSendMessages(producer);

const consumer = new lambda.Function(stack, 'MsgConsumer', {
  functionName: 'store_consumer',
  runtime: lambda.Runtime.PYTHON_3_11,
  handler: 'index.handler',
  timeout: cdk.Duration.seconds(5),
  code: code('consumer'),
});
consumer.addEventSource(new sources.SqsEventSource(orders, { batchSize: 10 }));

app.synth();
