// A small client of a server under test, for filling it and for moving its clock.

import { amzDate, authorization } from "../src/model/sigv4";
import { zip } from "./zip";

export interface Key {
  id: string;
  secret: string;
  role: "admin" | "operator" | "reader";
}

export interface Outgoing {
  body: unknown; // A text, or a value that is sent as JSON.
  attributes?: Record<string, string | number>;
  group?: string;
  delay?: number;
}

export interface Received {
  MessageId: string;
  Body: string;
  ReceiptHandle: string;
}

export interface Failure {
  errorType: string;
  errorMessage: string;
  stackTrace?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
type Json = any;

export class Client {
  constructor(
    readonly url: string,
    readonly key?: Key, // Of a server with keys.
  ) {}

  private signed(method: string, path: string, body: string, headers: Record<string, string>): Record<string, string> {
    if (!this.key) return headers;
    const url = new URL(this.url + path);
    const named = { ...headers, host: url.host, "x-amz-date": amzDate(new Date()) };
    const value = authorization(
      { method, path: url.pathname, query: url.search.slice(1), headers: named, body },
      { ...this.key, region: "us-east-1", service: path.startsWith("/20") ? "lambda" : "sqs" },
    );
    const { host: _host, ...sent } = named;
    return { ...sent, authorization: value };
  }

  async request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Json> {
    const payload = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(this.url + path, {
      method,
      headers: this.signed(method, path, payload, { "content-type": "application/json", ...headers }),
      body: body === undefined ? null : payload,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === "" || text[0] === "<" ? text : JSON.parse(text);
  }

  manage(method: string, path: string, body?: unknown): Promise<Json> {
    return this.request(method, `/_redrive/v1/${path}`, body);
  }

  sqs(action: string, body: Record<string, unknown>): Promise<Json> {
    return this.request("POST", "/", body, {
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": `AmazonSQS.${action}`,
    });
  }

  async queue(name: string, attributes: Record<string, string> = {}): Promise<string> {
    return (await this.sqs("CreateQueue", { QueueName: name, Attributes: attributes })).QueueUrl;
  }

  arn(name: string): string {
    return `arn:aws:sqs:us-east-1:000000000000:${name}`;
  }

  // A queue and its dead-letter queue; returns the URL of the queue.
  async pair(
    name: string,
    {
      receives = 3,
      attributes = {},
      dead = `${name}-dlq`,
    }: { receives?: number; attributes?: Record<string, string>; dead?: string } = {},
  ): Promise<string> {
    const fifo: Record<string, string> = name.endsWith(".fifo") ? { FifoQueue: "true" } : {};
    await this.queue(dead, { MessageRetentionPeriod: "1209600", ...fifo });
    return this.queue(name, {
      ...fifo,
      ...attributes,
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: this.arn(dead), maxReceiveCount: receives }),
    });
  }

  async send(url: string, messages: readonly Outgoing[]): Promise<void> {
    for (let i = 0; i < messages.length; i += 10) {
      const entries = messages.slice(i, i + 10).map((m, j) => ({
        Id: String(j),
        MessageBody: typeof m.body === "string" ? m.body : JSON.stringify(m.body),
        ...(m.attributes ? { MessageAttributes: asAttributes(m.attributes) } : {}),
        ...(m.group ? { MessageGroupId: m.group, MessageDeduplicationId: `${i} ${j}` } : {}),
        ...(m.delay ? { DelaySeconds: m.delay } : {}),
      }));
      await this.sqs("SendMessageBatch", { QueueUrl: url, Entries: entries });
    }
  }

  // Receives everything that is visible and lets `judge` say what becomes of each message: nothing (processed) or
  // an error to report.
  async work(url: string, judge: (message: Received) => Failure | undefined): Promise<void> {
    for (;;) {
      const { Messages = [] } = await this.sqs("ReceiveMessage", { QueueUrl: url, MaxNumberOfMessages: 10 });
      if (Messages.length === 0) return;
      for (const message of Messages as Received[]) await this.settle(url, message, judge(message));
    }
  }

  private async settle(url: string, message: Received, error: Failure | undefined): Promise<void> {
    if (!error) {
      await this.sqs("DeleteMessage", { QueueUrl: url, ReceiptHandle: message.ReceiptHandle });
      return;
    }
    await this.manage("POST", "failures", {
      receiptHandle: message.ReceiptHandle,
      disposition: "dead-letter",
      ...error,
    });
  }

  function(name: string, code: string, settings: Record<string, unknown> = {}): Promise<Json> {
    return this.request("POST", "/2015-03-31/functions", {
      FunctionName: name,
      Runtime: "python3.11",
      Handler: "index.handler",
      Role: "arn:aws:iam::000000000000:role/none",
      Timeout: 10,
      Code: { ZipFile: zip({ "index.py": code }).toString("base64") },
      ...settings,
    });
  }

  redeploy(name: string, code: string): Promise<Json> {
    return this.request("PUT", `/2015-03-31/functions/${name}/code`, {
      ZipFile: zip({ "index.py": code }).toString("base64"),
    });
  }

  mapping(queue: string, name: string, settings: Record<string, unknown> = {}): Promise<Json> {
    return this.request("POST", "/2015-03-31/event-source-mappings", {
      EventSourceArn: this.arn(queue),
      FunctionName: name,
      ...settings,
    });
  }

  advance(seconds: number): Promise<Json> {
    return this.manage("POST", "clock/advance", { seconds });
  }

  // Reads until `done` says so. For work that the server does on threads of its own, which no clock moves.
  async until<T>(read: () => Promise<T>, done: (value: T) => boolean, seconds = 60): Promise<T> {
    const end = Date.now() + seconds * 1000;
    for (;;) {
      const value = await read();
      if (done(value)) return value;
      if (Date.now() > end) throw new Error(`not so after ${seconds} s: ${JSON.stringify(value).slice(0, 400)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function asAttributes(plain: Record<string, string | number>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(plain).map(([name, value]) => [
      name,
      { DataType: typeof value === "number" ? "Number" : "String", StringValue: String(value) },
    ]),
  );
}
