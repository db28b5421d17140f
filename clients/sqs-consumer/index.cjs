// Lets sqs-consumer tell Redrive why a message failed: reportFailures(Consumer.create({ ... })).
"use strict";

const { GetQueueAttributesCommand } = require("@aws-sdk/client-sqs");

const PROBE_MS = 2000;
const PROBE_AGAIN_MS = 30_000;
const CAUSES_MAX = 5;

class Permanent extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = "Permanent";
  }
}

// --- Which server it is ---

const known = new Map(); // By origin: { redrive, until }, or a promise of it.

function isAws(host) {
  return /(^|\.)(amazonaws\.com(\.cn)?|api\.aws|api\.amazonwebservices\.com\.cn)$/.test(host);
}

async function probe(origin) {
  try {
    const answer = await fetch(`${origin}/`, { signal: AbortSignal.timeout(PROBE_MS), redirect: "error" });
    const text = await answer.text();
    return { redrive: answer.ok && text.includes('"service":"redrive"'), until: Infinity };
  } catch {
    return { redrive: false, until: Date.now() + PROBE_AGAIN_MS }; // Not there, for now.
  }
}

async function isRedrive(queueUrl) {
  const { origin, hostname } = new URL(queueUrl);
  if (isAws(hostname)) return false;
  let found = await known.get(origin);
  if (!found || found.until < Date.now()) {
    known.set(origin, probe(origin));
    found = await known.get(origin);
  }
  return found.redrive;
}

// --- Reports ---

function isError(value) {
  return value instanceof Error || Object.prototype.toString.call(value) === "[object Error]";
}

function stackOf(error) {
  const sections = [];
  for (let each = error, seen = new Set(); each !== undefined && each !== null && !seen.has(each); each = each.cause) {
    seen.add(each);
    if (sections.length > CAUSES_MAX) sections.splice(1, 1); // The innermost tell most.
    sections.push(isError(each) ? String(each.stack ?? each) : String(each));
    if (!isError(each)) break;
  }
  return sections.join("\nCaused by: ");
}

// The SDK signs and sends the report as it would one of its own commands.
async function post(sqs, queueUrl, document) {
  const body = JSON.stringify(document);
  const command = new GetQueueAttributesCommand({ QueueUrl: queueUrl });
  command.middlewareStack.add(
    (next) => async (args) => {
      const { request } = args;
      for (const name of Object.keys(request.headers)) {
        if (/^(x-amz-target|x-amzn-query-mode|content-length)$/i.test(name)) delete request.headers[name];
      }
      Object.assign(request, { method: "POST", path: "/_redrive/v1/failures", query: {}, body });
      request.headers["content-type"] = "application/json";
      request.headers["content-length"] = String(Buffer.byteLength(body));
      return next(args);
    },
    { step: "build", priority: "low", name: "redriveFailureReport" },
  );
  await sqs.send(command);
}

async function report(sqs, queueUrl, message, error, { permanent = error instanceof Permanent } = {}) {
  if (!message.ReceiptHandle || !(await isRedrive(queueUrl))) return false;
  const document = {
    receiptHandle: message.ReceiptHandle,
    errorType: isError(error) ? String(error.name) : typeof error,
    errorMessage: isError(error) ? String(error.message) : String(error),
    stackTrace: isError(error) ? stackOf(error) : "",
  };
  if (!permanent) {
    await post(sqs, queueUrl, document);
    return false;
  }
  try {
    await post(sqs, queueUrl, { ...document, disposition: "dead-letter" });
    return true;
  } catch {
    await post(sqs, queueUrl, document); // A queue without a dead-letter queue.
    return false;
  }
}

// --- sqs-consumer ---

function reportFailures(consumer, options = {}) {
  const isPermanent = (error) => error instanceof Permanent || options.isPermanent?.(error) === true;
  const onReportError = options.onReportError ?? ((error) => console.warn(`redrive: a failure was not reported: ${error.message}`));
  const gone = new WeakSet(); // Messages that are dead letters: nothing is left to change.

  async function tell(message, error, permanent) {
    try {
      if (await report(consumer.sqs, consumer.queueUrl, message, error, { permanent })) gone.add(message);
    } catch (failure) {
      onReportError(failure);
    }
  }

  const { handleMessage, handleMessageBatch } = consumer;
  if (handleMessage) {
    consumer.handleMessage = async (message) => {
      try {
        return await handleMessage(message);
      } catch (error) {
        await tell(message, error, isPermanent(error));
        throw error;
      }
    };
  }
  if (handleMessageBatch) {
    consumer.handleMessageBatch = async (messages) => {
      try {
        return await handleMessageBatch(messages);
      } catch (error) {
        // Of several messages it is not known which one is to blame: none dies of it at once.
        const permanent = messages.length === 1 && isPermanent(error);
        await Promise.all(messages.map((message) => tell(message, error, permanent)));
        throw error;
      }
    };
  }
  consumer.on("timeout_error", (error, message) => void tell(message, error, false));

  const { changeVisibilityTimeout, changeVisibilityTimeoutBatch } = consumer;
  consumer.changeVisibilityTimeout = async (message, timeout) =>
    gone.has(message) ? undefined : changeVisibilityTimeout.call(consumer, message, timeout);
  consumer.changeVisibilityTimeoutBatch = async (messages, timeout) => {
    const left = messages.filter((message) => !gone.has(message));
    return left.length === 0 ? undefined : changeVisibilityTimeoutBatch.call(consumer, left, timeout);
  };
  return consumer;
}

module.exports = { Permanent, isRedrive, report, reportFailures };
