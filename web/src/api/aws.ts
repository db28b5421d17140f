// The AWS APIs of the same port: SQS, Lambda and S3.

import { childrenOf, parseXml, textOf } from "../model/xml";
import { json, part, send } from "./client";

function sqs<T>(action: string, body: Record<string, unknown>): Promise<T> {
  return json<T>("POST", "/", {
    text: JSON.stringify(body),
    headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` },
  });
}

export interface MessageAttribute {
  DataType: string;
  StringValue?: string;
  BinaryValue?: string;
}

export const getQueueUrl = (queue: string): Promise<{ QueueUrl: string }> => sqs("GetQueueUrl", { QueueName: queue });

async function withUrl<T>(queue: string, action: string, body: Record<string, unknown>): Promise<T> {
  const { QueueUrl } = await getQueueUrl(queue);
  return sqs<T>(action, { QueueUrl, ...body });
}

export const getQueueAttributes = (queue: string): Promise<{ Attributes?: Record<string, string> }> =>
  withUrl(queue, "GetQueueAttributes", { AttributeNames: ["All"] });
export const setQueueAttributes = (queue: string, attributes: Record<string, string>): Promise<void> =>
  withUrl(queue, "SetQueueAttributes", { Attributes: attributes });
export const listQueueTags = (queue: string): Promise<{ Tags?: Record<string, string> }> =>
  withUrl(queue, "ListQueueTags", {});
export const tagQueue = (queue: string, tags: Record<string, string>): Promise<void> =>
  withUrl(queue, "TagQueue", { Tags: tags });
export const untagQueue = (queue: string, keys: string[]): Promise<void> =>
  withUrl(queue, "UntagQueue", { TagKeys: keys });
export const deleteQueue = (queue: string): Promise<void> => withUrl(queue, "DeleteQueue", {});
export const createQueue = (queue: string, attributes: Record<string, string>): Promise<void> =>
  sqs("CreateQueue", { QueueName: queue, Attributes: attributes });

export interface NewMessage {
  MessageBody: string;
  DelaySeconds?: number;
  MessageGroupId?: string;
  MessageDeduplicationId?: string;
  MessageAttributes?: Record<string, MessageAttribute>;
}
export const sendMessage = (queue: string, message: NewMessage): Promise<{ MessageId: string }> =>
  withUrl(queue, "SendMessage", { ...message });

export interface FunctionConfiguration {
  FunctionName: string;
  FunctionArn: string;
  Runtime?: string;
  Handler?: string;
  Timeout?: number;
  MemorySize?: number;
  CodeSize?: number;
  CodeSha256?: string;
  LastModified?: string;
  Description?: string;
  State?: string;
  Version?: string;
  Environment?: { Variables?: Record<string, string> };
}

export interface Retrier {
  ErrorEquals: string[];
  IntervalSeconds?: number;
  MaxAttempts?: number;
  BackoffRate?: number;
  MaxDelaySeconds?: number;
}

export interface Mapping {
  UUID: string;
  EventSourceArn: string;
  FunctionArn: string;
  State?: string;
  BatchSize?: number;
  MaximumBatchingWindowInSeconds?: number;
  FunctionResponseTypes?: string[];
  FilterCriteria?: { Filters?: { Pattern: string }[] };
  ScalingConfig?: { MaximumConcurrency?: number };
  RetryPolicy?: Retrier[];
  MaximumRetryAttempts?: number;
  BisectBatchOnFunctionError?: boolean;
  LastModified?: number;
}

async function allPages<T>(
  read: (marker: string | undefined) => Promise<{ items: T[]; next: string | undefined }>,
): Promise<T[]> {
  const all: T[] = [];
  let marker: string | undefined;
  do {
    const page = await read(marker);
    all.push(...page.items);
    marker = page.next;
  } while (marker && all.length < 5000);
  return all;
}

export const listFunctions = (): Promise<FunctionConfiguration[]> =>
  allPages(async (marker) => {
    const page = await json<{ Functions?: FunctionConfiguration[]; NextMarker?: string }>(
      "GET",
      "/2015-03-31/functions/",
      { query: { Marker: marker, MaxItems: 1000 } },
    );
    return { items: page.Functions ?? [], next: page.NextMarker };
  });

export const getFunction = (name: string): Promise<FunctionConfiguration> =>
  json("GET", `/2015-03-31/functions/${part(name)}/configuration`);

export const listMappings = (query: { FunctionName?: string; EventSourceArn?: string } = {}): Promise<Mapping[]> =>
  allPages(async (marker) => {
    const page = await json<{ EventSourceMappings?: Mapping[]; NextMarker?: string }>(
      "GET",
      "/2015-03-31/event-source-mappings/",
      { query: { ...query, Marker: marker, MaxItems: 100 } },
    );
    return { items: page.EventSourceMappings ?? [], next: page.NextMarker };
  });

export const updateMapping = (uuid: string, body: Record<string, unknown>): Promise<Mapping> =>
  json("PUT", `/2015-03-31/event-source-mappings/${part(uuid)}`, { body });

export interface Invocation {
  failed: boolean;
  payload: string;
  log: string;
  durationMs: number;
  version: string;
}

export async function invoke(name: string, event: string, qualifier?: string): Promise<Invocation> {
  const start = performance.now();
  const response = await send("POST", `/2015-03-31/functions/${part(name)}/invocations`, {
    text: event,
    query: { Qualifier: qualifier },
    headers: { "x-amz-log-type": "Tail" },
  });
  const payload = await response.text();
  const tail = response.headers.get("x-amz-log-result") ?? "";
  const bytes = Uint8Array.from(atob(tail), (c) => c.charCodeAt(0));
  return {
    failed: response.headers.has("x-amz-function-error"),
    payload,
    log: new TextDecoder().decode(bytes),
    durationMs: Math.round(performance.now() - start),
    version: response.headers.get("x-amz-executed-version") ?? "",
  };
}

export interface S3Object {
  key: string;
  size: number;
  modified: string;
}

export async function listBuckets(): Promise<string[]> {
  // S3 is recognised by a header that only its clients send.
  const response = await send("GET", "/", { headers: { "x-amz-content-sha256": "UNSIGNED-PAYLOAD" } });
  const root = parseXml(await response.text());
  return childrenOf(childrenOf(root, "Buckets")[0] ?? root, "Bucket").map((b) => textOf(b, "Name"));
}

export async function listObjects(
  bucket: string,
  prefix: string,
  token: string | undefined,
): Promise<{ objects: S3Object[]; next: string | undefined }> {
  const response = await send("GET", `/${part(bucket)}`, {
    query: { "list-type": 2, prefix, "continuation-token": token, "max-keys": 200 },
    headers: { "x-amz-content-sha256": "UNSIGNED-PAYLOAD" },
  });
  const root = parseXml(await response.text());
  const objects = childrenOf(root, "Contents").map((c) => ({
    key: textOf(c, "Key"),
    size: Number(textOf(c, "Size")),
    modified: textOf(c, "LastModified"),
  }));
  return { objects, next: textOf(root, "NextContinuationToken") || undefined };
}

export async function getObject(bucket: string, key: string): Promise<string> {
  const path = key.split("/").map(part).join("/");
  const response = await send("GET", `/${part(bucket)}/${path}`, {
    headers: { "x-amz-content-sha256": "UNSIGNED-PAYLOAD" },
  });
  return response.text();
}
