// Carries events from the Lambda Runtime API to a Node.js handler, and its results back: one
// connection (of two pipes), and one write for each invocation (the result, and the question for the next event
// behind it).
import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import path from "node:path";
import { pathToFileURL } from "node:url";
import util from "node:util";

const env = process.env;
const api = env.AWS_LAMBDA_RUNTIME_API;
const root = env.LAMBDA_TASK_ROOT ?? process.cwd();
const prefix = "/2018-06-01/runtime/";
const next = Buffer.from(`GET ${prefix}invocation/next HTTP/1.1\r\nHost: ${api}\r\n\r\n`);
const headEnd = Buffer.from("\r\n\r\n");

let input;
let output;
let received = Buffer.alloc(0);
let running = null; // The invocation that runs.

// --- The Runtime API ---

function post(call, body, kind, behind) {
  const bytes = Buffer.from(body);
  const type = kind ? `Lambda-Runtime-Function-Error-Type: ${kind.replace(/[^\x21-\x7e]/g, "")}\r\n` : "";
  const head = `POST ${prefix}${call} HTTP/1.1\r\nHost: ${api}\r\nContent-Type: application/json\r\n` +
    `${type}Content-Length: ${bytes.length}\r\n\r\n`;
  output.write(Buffer.concat([Buffer.from(head), bytes, behind ?? Buffer.alloc(0)]));
}

function takeAnswer() {
  const end = received.indexOf(headEnd);
  if (end < 0) return null;
  const lines = received.toString("utf8", 0, end).split("\r\n");
  const headers = {};
  for (const line of lines.slice(1)) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const begin = end + headEnd.length;
  const size = Number(headers["content-length"] ?? 0);
  if (received.length < begin + size) return null;
  const body = received.toString("utf8", begin, begin + size);
  received = received.subarray(begin + size);
  return { status: Number(lines[0].split(" ")[1]), headers, body };
}

const pieces = [];
let wanted = 0;

function onData(data) {
  // A large event comes in many pieces: they are joined when there may be enough of them.
  pieces.push(data);
  const total = received.length + pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (total < wanted) return;
  received = pieces.length === 1 && received.length === 0 ? pieces[0] : Buffer.concat([received, ...pieces]);
  pieces.length = 0;
  let answer;
  while ((answer = takeAnswer()) !== null) {
    if (answer.status === 200) invoke(answer);
  }
  wanted = received.length > 65536 ? received.length * 2 : 0;
  const size = /content-length: *(\d+)/i.exec(received.toString("latin1", 0, Math.min(received.length, 8192)));
  if (size) wanted = received.indexOf(headEnd) + headEnd.length + Number(size[1]);
}

// --- Errors ---

class Fault extends Error {
  constructor(name, message) {
    super(message);
    this.name = name;
  }
}

const isError = (value) => util.types.isNativeError(value) || value instanceof Error;

// Files of the function as they are on Lambda, wherever they lie here.
function rootNames() {
  try {
    return [...new Set([root, realpathSync(root)])]; // Node.js follows links.
  } catch {
    return [root];
  }
}
const roots = rootNames().filter((name) => name !== "/var/task" && name !== "/");
const shownPaths = (text) => roots.reduce((shown, name) => shown.replaceAll(`${name}/`, "/var/task/"), text);

function linkOf(error) {
  if (!isError(error)) return { errorType: typeof error, errorMessage: String(error), trace: [] };
  return {
    errorType: String(error.name ?? "Error"),
    errorMessage: String(error.message),
    trace: shownPaths(String(error.stack ?? "")).split("\n"),
  };
}

const chainMax = 16; // Errors of a chain of causes that are reported; the server keeps the outermost and the innermost.
const recordErrorsBytes = 2 << 20; // For the errors of all records of a batch.

// The error and its causes, nested, in no more than about so many bytes.
function chainOf(error, bytes, seen = new Set()) {
  const link = linkOf(error);
  link.errorMessage = link.errorMessage.slice(0, Math.max(200, bytes / 8));
  while (link.trace.length > 2 && link.trace.join("").length > bytes / 2) link.trace.length = Math.ceil(link.trace.length / 2);
  seen.add(error);
  const cause = isError(error) ? error.cause : undefined;
  const more = cause !== undefined && cause !== null && !seen.has(cause) && seen.size < chainMax;
  return more ? { ...link, cause: causeOf(cause, bytes, seen) } : link;
}

const causeOf = (cause, bytes, seen) => (typeof cause === "string" ? cause.slice(0, bytes / 8) : chainOf(cause, bytes, seen));

// Errors of single records that an error carries: Powertools' FullBatchFailureError has recordErrors, AggregateError errors.
function errorsWithin(error) {
  for (const name of ["recordErrors", "errors"]) {
    const list = error[name];
    if (!Array.isArray(list) || list.length === 0 || !list.every(isError)) continue;
    const bytes = Math.max(256, Math.min(8192, recordErrorsBytes / list.length));
    const documents = list.map((each) => {
      const messageId = each.messageId ?? each.record?.messageId;
      return { ...chainOf(each, bytes), ...(typeof messageId === "string" && { messageId }) };
    });
    return { [name]: documents };
  }
  return {};
}

function documentOf(error) {
  const document = linkOf(error);
  if (!isError(error)) return document;
  try {
    if (error.cause !== undefined && error.cause !== null) document.cause = causeOf(error.cause, 32768, new Set([error]));
    return { ...document, ...errorsWithin(error) };
  } catch {
    return document; // A property that throws. What was said so far is as much as on Lambda.
  }
}

// As Lambda logs it: the stack under its own name, and what else the error has.
function loggedError(error) {
  if (!isError(error)) return linkOf(error);
  const { errorType, errorMessage, trace } = linkOf(error);
  return { errorType, errorMessage, ...(error.code !== undefined && { code: error.code }), ...error, stack: trace };
}

function printError(words, error) {
  let text;
  try {
    text = JSON.stringify(error, (key, value) => (isError(value) ? loggedError(value) : value));
  } catch {
    const { trace, ...rest } = linkOf(error); // Circles, or properties that cannot be written.
    text = JSON.stringify({ ...rest, stack: trace });
  }
  if (!isError(error)) text = JSON.stringify(linkOf(error));
  log("ERROR", [`${words}\t${text}`]);
}

// Powertools' processors catch the errors of single records and report only ids. Remembers the errors, for packages
// that are not bundled.
function watchProcessor(processor) {
  const handle = processor?.prototype?.failureHandler;
  if (typeof handle !== "function") return;
  processor.prototype.failureHandler = function failureHandler(record, error) {
    if (typeof record?.messageId === "string") running?.itemErrors.set(record.messageId, error);
    return handle.call(this, record, error);
  };
}

async function watchBatchProcessors() {
  const home = path.join(root, "node_modules/@aws-lambda-powertools/batch/lib");
  const file = path.join(home, "esm/BasePartialProcessor.js");
  if (!existsSync(file)) return;
  const loaded = createRequire(path.join(root, "index.js")).cache[path.join(realpathSync(home), "cjs/BasePartialProcessor.js")];
  const module = loaded ? loaded.exports : await import(pathToFileURL(file).href);
  watchProcessor(module.BasePartialProcessor);
}

// The result of a handler, each failed item with its error beside it.
function withItemErrors(result, errors) {
  if (!Array.isArray(result?.batchItemFailures)) return result;
  const bytes = Math.max(256, Math.min(8192, recordErrorsBytes / result.batchItemFailures.length));
  const explained = (item) => {
    const known = item && typeof item === "object" && !("errorType" in item) && errors.has(item.itemIdentifier);
    return known ? { ...item, ...chainOf(errors.get(item.itemIdentifier), bytes) } : item;
  };
  return { ...result, batchItemFailures: result.batchItemFailures.map(explained) };
}

// --- Logging ---

// What is printed is written before the next thing is done, as on Lambda: it belongs to the invocation that printed it,
// survives process.exit() and fills no memory. (Both first: opening one makes their common pipe non-blocking again.)
for (const stream of [process.stdout, process.stderr]) stream._handle?.setBlocking?.(true);

function log(level, values) {
  const text = util.format(...values).replace(/\n/g, "\r");
  process.stdout.write(`${new Date().toISOString()}\t${running?.id ?? "undefined"}\t${level}\t${text}\n`);
}

const levels = { log: "INFO", info: "INFO", debug: "DEBUG", warn: "WARN", error: "ERROR", trace: "TRACE" };
for (const [name, level] of Object.entries(levels)) console[name] = (...values) => log(level, values);

// --- The handler ---

async function importFirst(base, name) {
  for (const extension of ["", ".js", ".mjs", ".cjs"]) {
    const file = path.resolve(root, base, name + extension);
    if (extension === "" ? /\.[cm]?js$/.test(name) && existsSync(file) : existsSync(file)) {
      return import(pathToFileURL(file).href);
    }
  }
  // A package, or a directory with an index.
  const require = createRequire(path.join(root, "index.js"));
  return import(pathToFileURL(require.resolve(path.resolve(root, base, name))).href);
}

async function loadModule(base, name) {
  try {
    return await importFirst(base, name);
  } catch (error) {
    if (error instanceof SyntaxError) throw new Fault("Runtime.UserCodeSyntaxError", String(error));
    if (error?.code === "MODULE_NOT_FOUND" || error?.code === "ERR_MODULE_NOT_FOUND") {
      throw new Fault("Runtime.ImportModuleError", String(error));
    }
    throw error;
  }
}

async function loadHandler() {
  const whole = env._HANDLER ?? "";
  if (whole.includes("..")) throw new Fault("Runtime.MalformedHandlerName", `'${whole}' is not a valid handler name`);
  const base = path.dirname(whole);
  const match = /^([^.]*)\.(.+)$/.exec(path.basename(whole));
  if (!match) throw new Fault("Runtime.MalformedHandlerName", "Bad handler");
  const module = await loadModule(base, match[1]);
  const find = (from) => match[2].split(".").reduce((value, key) => value?.[key], from);
  const handler = find(module) ?? find(module.default);
  if (handler === undefined) throw new Fault("Runtime.HandlerNotFound", `${whole} is undefined or not exported`);
  if (typeof handler !== "function") throw new Fault("Runtime.HandlerNotFound", `${whole} is not a function`);
  return handler;
}

// --- Invocations ---

let handler;

class Run {
  constructor(answer) {
    this.id = answer.headers["lambda-runtime-aws-request-id"];
    this.headers = answer.headers;
    this.over = false;
    this.itemErrors = new Map(); // What made records fail, by their message ids.
    this.atRest = () => this.succeed(null);
  }

  // What happens when nothing is left to wait for.
  whenIdle(work) {
    this.atRest = work;
  }

  succeed(result) {
    if (this.over) return;
    let body;
    if (this.itemErrors.size > 0) result = withItemErrors(result, this.itemErrors);
    try {
      body = JSON.stringify(result === undefined ? null : result) ?? "null";
    } catch (error) {
      return this.fail(new Fault("Runtime.MarshalError", `Unable to stringify response body as json: ${error.message}`));
    }
    this.finish("response", body, null);
  }

  fail(error) {
    if (this.over) return;
    const document = documentOf(error);
    printError("Invoke Error ", error);
    this.finish("error", JSON.stringify(document), document.errorType);
  }

  finish(call, body, kind) {
    this.over = true;
    running = null;
    input.ref();
    post(`invocation/${this.id}/${call}`, body, kind, next);
  }
}

function contextOf(run) {
  const { headers } = run;
  const deadline = Number(headers["lambda-runtime-deadline-ms"]);
  const client = headers["lambda-runtime-client-context"];
  let waits = true;
  const context = {
    get callbackWaitsForEmptyEventLoop() { return waits; },
    set callbackWaitsForEmptyEventLoop(value) { waits = value; },
    functionName: env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: env.AWS_LAMBDA_FUNCTION_VERSION,
    invokedFunctionArn: headers["lambda-runtime-invoked-function-arn"],
    memoryLimitInMB: env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    awsRequestId: run.id,
    logGroupName: env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: env.AWS_LAMBDA_LOG_STREAM_NAME,
    clientContext: client ? JSON.parse(client) : undefined,
    identity: undefined,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    done: (error, result) => answer(error, result),
    succeed: (result) => answer(null, result),
    fail: (error) => answer(error ?? "handled", null),
  };
  function answer(error, result) {
    if (error !== null && error !== undefined) return run.fail(error);
    if (waits) run.whenIdle(() => run.succeed(result));
    else run.succeed(result);
  }
  return { context, callback: answer };
}

function invoke(answer) {
  const run = new Run(answer);
  running = run;
  const trace = answer.headers["lambda-runtime-trace-id"];
  if (trace) env._X_AMZN_TRACE_ID = trace;
  // The connection alone shall not keep the event loop alive: it tells when the handler is at rest.
  input.unref();
  let event;
  try {
    event = JSON.parse(answer.body);
  } catch (error) {
    return run.fail(new Fault("Runtime.UnmarshalError", `Unable to unmarshal input: ${error.message}`));
  }
  const { context, callback } = contextOf(run);
  try {
    const result = handler(event, context, callback);
    if (typeof result?.then === "function") result.then((value) => run.succeed(value), (error) => run.fail(error));
  } catch (error) {
    run.fail(error);
  }
}

process.on("beforeExit", () => running?.atRest());

// --- Errors that nobody caught ---

function die(words, error, code) {
  const document = documentOf(error);
  printError(words, error);
  const body = JSON.stringify(document);
  if (running && handler) {
    post(`invocation/${running.id}/error`, body, document.errorType);
    running.over = true;
  } else if (!handler) {
    post("init/error", body, document.errorType);
  }
  input.ref();
  output.end(() => process.exit(code));
}

process.on("uncaughtException", (error) => die("Uncaught Exception ", error, 129));
process.on("unhandledRejection", (reason) => {
  const error = new Fault("Runtime.UnhandledPromiseRejection", String(reason?.stack ? reason : util.format(reason)));
  if (reason?.stack) error.stack = `${error.name}: ${error.message}\n${reason.stack}`;
  die("Unhandled Promise Rejection ", error, 128);
});

// --- Start ---

// Two pipes from the server, which cost less than its port.
const [from, to] = env.REDRIVE_RUNTIME_LINK.split(",", 2).map(Number);
delete env.REDRIVE_RUNTIME_LINK;
input = new net.Socket({ fd: from, readable: true, writable: false });
output = new net.Socket({ fd: to, readable: false, writable: true });
input.on("data", onData);
// The server is gone, and with it everybody to work for.
for (const pipe of [input, output]) {
  pipe.on("error", () => process.exit(0));
  pipe.on("close", () => process.exit(0));
}
try {
  handler = await loadHandler();
  await watchBatchProcessors().catch(() => {}); // Another version than we know.
  output.write(next);
} catch (error) {
  die("Uncaught Exception ", error, 1);
}
