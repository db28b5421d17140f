exports.echo = async (event) => event;

exports.callback = (event, context, callback) => {
  setTimeout(() => callback(null, { got: event.n }), 5);
};

exports.callbackError = (event, context, callback) => callback(new TypeError("bad input"));

exports.syncValue = (event) => event;

exports.lingers = (event, context, callback) => {
  context.callbackWaitsForEmptyEventLoop = event.waits;
  setTimeout(() => console.log("late work"), 50);
  callback(null, "answered");
};

exports.rejects = async (event) => {
  class OrderRejected extends Error {
    constructor(message) {
      super(message);
      this.name = "OrderRejected";
    }
  }
  throw new OrderRejected(`no such customer: ${event.customer}`);
};

exports.throwsText = async () => {
  throw "plain words";
};

exports.about = async (event, context) => ({
  id: context.awsRequestId,
  name: context.functionName,
  arn: context.invokedFunctionArn,
  memory: context.memoryLimitInMB,
  remaining: context.getRemainingTimeInMillis(),
  group: context.logGroupName,
});

exports.prints = async (event) => {
  console.log("hello", event);
  console.error("and an error");
  process.stdout.write("raw\n");
};

exports.floods = async (event) => {
  for (let i = 0; i < 2000; i++) console.log("x".repeat(999));
  console.error("the last word");
  if (event?.exit) process.exit(event.exit);
};

exports.leaks = async () => {
  const kept = [];
  for (;;) kept.push(new Array(1_000_000).fill(kept.length + 0.5));
};

exports.uncaught = () => {
  setTimeout(() => {
    throw new RangeError("out of nowhere");
  }, 1);
};

exports.unhandled = () => {
  setTimeout(() => Promise.reject(new Error("nobody waits")), 1);
};

exports.cyclic = async () => {
  const a = {};
  a.a = a;
  return a;
};

exports.huge = async (event) => "x".repeat(event.bytes);

exports.notAFunction = 7;

exports.deep = { inside: { handler: async () => "found" } };

exports.failsWithCode = async () => {
  throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
};

exports.failsInACircle = async () => {
  const error = new Error("round");
  error.self = error;
  error.cause = error;
  throw error;
};

exports.failsWithCauses = async () => {
  class OrderError extends Error {
    constructor(message, options) {
      super(message, options);
      this.name = "OrderError";
    }
  }
  throw new OrderError("cannot load", { cause: new TypeError("no price", { cause: "gone" }) });
};

exports.failsForAllRecords = async () => {
  const error = new Error("All records failed processing.");
  error.name = "FullBatchFailureError";
  error.recordErrors = [new TypeError("of a"), new RangeError("of b")];
  throw error;
};

exports.logsError = async () => console.error(new Error("only logged"));
