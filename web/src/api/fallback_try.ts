// A6: runs the function that usually works on a message's queue on a copy of the message, and compares the error
// with the recorded one, as `redrive dlq try` does.

import { functionOfArn } from "../model/format";
import { tellingAttempt } from "../model/life";
import type { TriedError, TryResult } from "./additions";
import { type Invocation, invoke, listMappings, type Mapping } from "./aws";
import { ApiError } from "./client";
import { noteTried, showMessage, showSpentHandle } from "./manage";
import type { Message } from "./types.gen";

interface AwsAttribute {
  DataType?: string;
  StringValue?: string;
  BinaryValue?: string;
}

async function eventOf(message: Message, source: string): Promise<string> {
  const handle = await showSpentHandle(source).catch(() => ({ receiptHandle: "none" }));
  const attributes = Object.entries((message.attributes ?? {}) as Record<string, AwsAttribute>);
  const record = {
    messageId: message.messageId,
    receiptHandle: handle.receiptHandle,
    body: message.body,
    attributes: {
      ApproximateReceiveCount: String(message.receiveCount),
      SentTimestamp: String(Date.parse(message.sentAt)),
      SenderId: message.senderId ?? "",
      ApproximateFirstReceiveTimestamp: String(Date.parse(message.firstReceivedAt ?? message.sentAt)),
      ...(message.groupId ? { MessageGroupId: message.groupId } : {}),
      ...(message.deduplicationId ? { MessageDeduplicationId: message.deduplicationId } : {}),
    },
    messageAttributes: Object.fromEntries(
      attributes.map(([name, a]) => [
        name,
        { dataType: a.DataType, stringValue: a.StringValue, binaryValue: a.BinaryValue },
      ]),
    ),
    eventSource: "aws:sqs",
    eventSourceARN: source,
    awsRegion: source.split(":")[3] ?? "",
  };
  return JSON.stringify({ Records: [record] });
}

function errorOf(run: Invocation, messageId: string, reportsItems: boolean): TriedError | undefined {
  let document: Record<string, unknown> = {};
  try {
    document = (JSON.parse(run.payload) ?? {}) as Record<string, unknown>;
  } catch {
    document = {};
  }
  if (run.failed) {
    const trace = document.stackTrace;
    return {
      type: String(document.errorType ?? ""),
      message: String(document.errorMessage ?? run.payload),
      stackTrace: Array.isArray(trace) ? trace.join("") : String(trace ?? ""),
    };
  }
  const items = document.batchItemFailures;
  if (!reportsItems || !Array.isArray(items)) return undefined;
  const named = items.some((i: { itemIdentifier?: string }) => i.itemIdentifier === messageId);
  return named ? { type: "BatchItemFailure", message: "The handler named this message as failed." } : undefined;
}

function chosen(mappings: Mapping[], name: string | undefined): Mapping {
  const fitting = name ? mappings.filter((m) => functionOfArn(m.FunctionArn) === name) : mappings;
  const [first] = fitting;
  if (first && (fitting.length === 1 || name)) return first;
  const known = mappings.map((m) => functionOfArn(m.FunctionArn)).join(", ");
  throw new ApiError(
    "NoFunction",
    first
      ? `Several functions work on this queue: ${known}.`
      : "No function of this server works on the queue it came from.",
    400,
    undefined,
  );
}

export async function tryMessage(queue: string, key: number, name: string | undefined): Promise<TryResult> {
  const message = await showMessage(queue, key, true);
  const source = message.deadLetterSource ?? message.origin ?? "";
  const mapping = chosen(await listMappings({ EventSourceArn: source }), name);
  const run = await invoke(functionOfArn(mapping.FunctionArn), await eventOf(message, source));
  const telling = tellingAttempt(message.attempts ?? []);
  const error = errorOf(run, message.messageId, (mapping.FunctionResponseTypes ?? []).length > 0);
  const same = error?.type === telling?.errorType && error?.message === telling?.errorMessage;
  const verdict = !error ? "succeeds now" : same ? "fails as recorded" : "fails otherwise than recorded";
  const tried = `${functionOfArn(mapping.FunctionArn)} ${run.version}`.trim();
  await noteTried(queue, key, { code: tried, outcome: verdict }).catch(() => undefined);
  return {
    verdict,
    function: functionOfArn(mapping.FunctionArn),
    version: run.version,
    recorded: {
      ...(telling?.errorType ? { type: telling.errorType } : {}),
      ...(telling?.errorMessage ? { message: telling.errorMessage } : {}),
      ...(telling?.stackTrace ? { stackTrace: telling.stackTrace } : {}),
    },
    ...(error ? { error } : {}),
    log: run.log,
    durationMs: run.durationMs,
  };
}
