// A consumer of two orders, one of which cannot be processed. Run by run.sh.

import { DeleteMessageCommand, GetQueueUrlCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { Permanent, reporting } from "./report.mjs";

const client = new SQSClient({ endpoint: process.env.AWS_ENDPOINT_URL });
const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: "orders" }));

const handle = reporting(client, async (message) => {
  const order = JSON.parse(message.Body);
  if (!("store_id" in order)) throw new Permanent("an order without store_id");
  console.log("node: shipped to store", order.store_id);
});

const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
for (const message of Messages) {
  try {
    await handle(message);
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }));
  } catch (error) {
    if (!(error instanceof Permanent)) throw error;
    console.log("node: given up:", error.message);
  }
}
