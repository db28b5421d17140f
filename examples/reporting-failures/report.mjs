// Tells Redrive why a message failed. Wrap the function that handles one message: reporting(client, handle).

import { Sha256 } from "@aws-crypto/sha256-js";
import { SignatureV4 } from "@smithy/signature-v4";

// No retry will help: the message becomes a dead letter at once.
export class Permanent extends Error {}

export const reporting = (client, handle) => async (message) => {
  try {
    return await handle(message);
  } catch (error) {
    await report(client, message.ReceiptHandle, error);
    throw error;
  }
};

export async function report(client, receiptHandle, error) {
  const { protocol, hostname, port } = await client.config.endpoint();
  const signer = new SignatureV4({
    service: "sqs",
    region: await client.config.region(),
    credentials: client.config.credentials,
    sha256: Sha256,
  });
  const signed = await signer.sign({
    method: "POST",
    protocol,
    hostname,
    port,
    path: "/_redrive/v1/failures",
    query: {},
    headers: { host: port ? `${hostname}:${port}` : hostname },
    body: JSON.stringify({
      receiptHandle,
      errorType: error.constructor.name,
      errorMessage: error.message,
      stackTrace: error.stack,
      ...(error instanceof Permanent && { disposition: "dead-letter" }),
    }),
  });
  const { host, ...headers } = signed.headers;
  const answer = await fetch(`${protocol}//${host}${signed.path}`, { ...signed, headers });
  if (!answer.ok) throw new Error(`the report was refused: ${await answer.text()}`);
}
