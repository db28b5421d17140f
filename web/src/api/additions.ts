// What the console asks of the API beyond docs/openapi.yaml as it was when the console was written: the shapes of
// every addition (A1–A9, B1–B11 of the console's design) and the requests for them. Where a server does not have
// one yet, `withFallback` turns to fallbacks.ts, which makes the same shape of what there is.

import type { FieldInfo } from "../model/filter_completion";
import { ApiError, manage, part, send } from "./client";
import * as fallback from "./fallbacks";
import type { Alarms, FailureGroup, Job, JobRequest, Message, Selection, ShowOverviewAnswer } from "./types.gen";

type Signal = AbortSignal | undefined;

// Additions that this server does not have; asked for once.
const missing = new Set<string>();

export const missingAdditions = (): string[] => [...missing].sort();
export const lacks = (name: string): boolean => missing.has(name);

async function withFallback<T>(name: string, ask: () => Promise<T>, instead: () => Promise<T>): Promise<T> {
  if (missing.has(name)) return instead();
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ApiError) || !error.isUnknownOperation) throw error;
    missing.add(name);
    return instead();
  }
}

// A1: GET/POST/DELETE /_redrive/v1/session -----------------------------------------------------------------------

export type Right = "read" | "send" | "receive" | "operate" | "admin";

export interface SessionView {
  name?: string; // Of the key; absent without keys.
  role?: "producer" | "consumer" | "reader" | "operator" | "admin"; // Absent before sign-in.
  rights?: string[];
  queues?: string[]; // Patterns; absent or empty: all.
  account?: string;
  region?: string;
  version: string;
  keys: boolean; // Whether the server has keys.
  virtualClock: boolean;
  memory: boolean;
  signedIn: boolean;
  expiresAt?: string;
  secure: boolean;
}

export const readSession = (): Promise<SessionView> => manage("GET", "session");

// `authorization` is the SigV4 header for exactly this request; the secret itself is never sent.
export const signIn = (body: string, headers: Record<string, string>): Promise<SessionView> =>
  manage("POST", "session", { text: body, headers });

export const signOut = (): Promise<void> => manage("DELETE", "session");

// A2: GET /_redrive/v1/changes?after&topics&queue&wait ------------------------------------------------------------

export type QueueRow = NonNullable<ShowOverviewAnswer["queues"]>[number] & {
  newGroups?: number; // B1
  oldestExpiresAt?: string; // B1
};
export type HandlerRow = NonNullable<ShowOverviewAnswer["handlers"]>[number];
export type AlarmRow = NonNullable<Alarms["alarms"]>[number] & {
  snoozedUntil?: string; // B7
  metric?: string;
  statistic?: string;
  comparison?: string;
  threshold?: number;
  periodSeconds?: number;
  periods?: number;
};

// A3: a row of GET /_redrive/v1/groups.
export type GroupRow = FailureGroup & {
  queue: string;
  oldestExpiresAt?: string;
  job?: string | Job; // The running job that takes from it.
};

export type Topic = "queues" | "groups" | "jobs" | "alarms" | "handlers";

export interface Changes {
  cursor: string;
  now: string;
  queues?: QueueRow[];
  groups?: GroupRow[];
  jobs?: Job[];
  alarms?: AlarmRow[];
  handlers?: HandlerRow[];
  gone?: { [topic in Topic]?: string[] };
  reset?: boolean; // What came before does not count: these rows are all there are.
  version?: string;
}

export interface ChangesQuery {
  after?: string | undefined;
  topics: readonly Topic[];
  wait: number; // Seconds; 0: answer at once.
}

export const readChanges = (q: ChangesQuery, signal?: Signal): Promise<Changes> =>
  manage<Changes>("GET", "changes", {
    query: { after: q.after, topics: q.topics.join(","), wait: q.wait },
    signal,
  }).then(async (c) => (c.groups ? { ...c, groups: await fallback.groupsWithCauses(c.groups) } : c));

// A3 --------------------------------------------------------------------------------------------------------------

export interface GroupQuery {
  status?: string;
  queue?: string;
  q?: string;
  sort?: string;
  limit?: number;
  after?: string;
}

export interface GroupPage {
  groups: GroupRow[];
  ungrouped: number;
  next?: string;
  lastDeadLetter?: { at: string; queue: string };
}

export const listAllGroups = (query: GroupQuery = {}, signal?: Signal): Promise<GroupPage> =>
  manage<GroupPage>("GET", "groups", { query: { ...query }, signal }).then(async (page) => ({
    ...page,
    groups: await fallback.groupsWithCauses(page.groups),
  }));

// A4: peekMessages with view=summary, group, state, order, at, and `total` ----------------------------------------

export type MessageState = "visible" | "in-flight" | "delayed";

export type MessageSummary = Omit<Message, "body"> & {
  preview: string;
  size: number;
  errorType?: string;
  errorMessage?: string;
  deadAt?: string;
};

export interface SummaryQuery {
  queue: string;
  filter?: string | undefined;
  group?: string | undefined;
  state?: MessageState | undefined;
  order: "newest" | "oldest";
  at?: number; // Position; not with a filter.
  after?: string | undefined;
  limit: number;
}

export interface SummaryPage {
  messages: MessageSummary[];
  total: number;
  next?: string | undefined;
  scanned?: number | undefined;
  now?: string | undefined;
  masked?: boolean | undefined;
}

export const peekSummaries = ({ queue, ...query }: SummaryQuery, signal?: Signal): Promise<SummaryPage> =>
  manage("GET", `queues/${part(queue)}/messages`, { query: { view: "summary", ...query }, signal });

// A6: POST /_redrive/v1/queues/{q}/messages/{key}/try -------------------------------------------------------------

export interface TriedError {
  type?: string;
  message?: string;
  stackTrace?: string;
}

export interface TryResult {
  verdict: "succeeds now" | "fails as recorded" | "fails otherwise than recorded";
  function: string;
  version?: string;
  recorded?: TriedError;
  error?: TriedError; // Of this run.
  log: string;
  durationMs: number;
}

export const tryMessage = (queue: string, key: number, functionName?: string): Promise<TryResult> =>
  withFallback(
    "A6 try",
    () => manage("POST", `queues/${part(queue)}/messages/${key}/try`, { body: { function: functionName } }),
    () => fallback.tryMessage(queue, key, functionName),
  );

// A7: startJob with a dry run that tells more, and selections by keys ---------------------------------------------

export interface PatchSample {
  key: number;
  before: string;
  after?: string;
  problem?: string;
}

export type DryRun = Selection & {
  byDestination?: { queue: string; messages: number }[];
  byGroup?: { group: string; messages: number }[];
  parked?: number;
  held?: number;
  redrivenBefore?: number;
  complete?: boolean; // All candidates were looked at.
  patch?: { fits: number; not: number; samples: PatchSample[] };
};

export type JobBody = JobRequest & { keys?: number[]; except?: number[] };
export interface JobAnswer {
  job?: Job;
  dryRun?: DryRun;
}

export async function startJob(queue: string, body: JobBody, signal?: Signal): Promise<JobAnswer> {
  const answer = await manage<JobAnswer>("POST", `queues/${part(queue)}/jobs`, {
    body: await fallback.selectionToday(queue, body),
    signal,
  });
  return answer;
}

// A8: POST /_redrive/v1/metrics/query -----------------------------------------------------------------------------

export interface SeriesQuery {
  queue?: string;
  function?: string;
  mapping?: string;
  metric: string;
}

export interface MetricsQuery {
  from: number; // Seconds since 1970.
  to: number;
  step: number;
  series: SeriesQuery[]; // At most 200.
}

export interface MetricsAnswer {
  from: number;
  step: number;
  series: (SeriesQuery & { values: (number | null)[] })[];
}

export const queryMetrics = (body: MetricsQuery, signal?: Signal): Promise<MetricsAnswer> =>
  manage("POST", "metrics/query", { body, signal });

// B2: GET /_redrive/v1/topology and /_redrive/v1/doctor -----------------------------------------------------------

export interface TopologyQueue {
  name: string;
  arn?: string;
  fifo?: boolean;
  visible: number;
  inFlight: number;
  delayed: number;
  deadLetterQueue?: string;
  maxReceiveCount?: number;
  producers?: string[];
  archive?: string; // bucket/prefix that its policy writes to.
}

export interface TopologyHandler {
  mapping?: string;
  queue: string;
  function: string;
  enabled: boolean;
  messages?: number;
  failed?: number;
}

export interface Topology {
  queues: TopologyQueue[];
  handlers: TopologyHandler[];
  now?: string;
}

export const showTopology = (signal?: Signal): Promise<Topology> =>
  withFallback("B2 topology", () => manage("GET", "topology", { signal }), fallback.topology);

export interface Finding {
  severity: "advice" | "warning" | "problem";
  rule: string;
  queue: string;
  what: string;
  why: string;
  fix: string; // A command.
}

export interface Findings {
  findings: Finding[];
  examined?: number;
}

export const examine = (queue?: string): Promise<Findings> =>
  withFallback("B2 doctor", () => manage("GET", "doctor", { query: { queue } }), fallback.findings);

// B4: GET /_redrive/v1/jobs/{job}/messages?outcome= ---------------------------------------------------------------

export type JobOutcome = "processed" | "failed-again" | "gone" | "open";

export type JobMessage = Partial<MessageSummary> & {
  messageId: string;
  lineageId: string;
  key?: number;
  queue: string;
  outcome: JobOutcome;
  before?: TriedError;
  after?: TriedError;
};

export interface JobMessages {
  messages: JobMessage[];
  next?: string;
}

export const jobMessages = (job: Job, outcome: JobOutcome, after?: string): Promise<JobMessages> =>
  withFallback(
    "B4 job messages",
    () => manage("GET", `jobs/${part(job.id)}/messages`, { query: { outcome, after } }),
    () => fallback.jobMessages(job, outcome),
  );

export interface JobEvent {
  at: string;
  what: string;
  actor?: string;
  text?: string;
}

export type JobWithEvents = Job & { events?: JobEvent[]; groups?: string[]; keys?: number[]; except?: number[] };

// B5: GET /_redrive/v1/queues/{q}/fields --------------------------------------------------------------------------

export const listFields = (queue: string): Promise<{ fields: FieldInfo[] }> =>
  withFallback(
    "B5 fields",
    () => manage("GET", `queues/${part(queue)}/fields`),
    () => fallback.fields(queue),
  );

// B6: GET /_redrive/v1/functions/{f}/invocations, POST /_redrive/v1/patterns/test ---------------------------------

export interface InvocationRow {
  requestId: string;
  at: string;
  durationMs?: number;
  outcome: "succeeded" | "failed" | "running" | "unknown";
  errorType?: string;
  errorMessage?: string;
  messages?: number;
  version?: string;
}

export const listInvocations = (name: string): Promise<{ invocations: InvocationRow[] }> =>
  withFallback(
    "B6 invocations",
    () => manage("GET", `functions/${part(name)}/invocations`),
    () => fallback.invocations(name),
  );

export interface PatternResult {
  matches: boolean;
  message?: string;
}

export const testPattern = (
  pattern: string,
  body: string,
  attributes: Record<string, unknown> = {},
): Promise<PatternResult> => manage("POST", "patterns/test", { body: { pattern, body, attributes } });

// B7: snooze ------------------------------------------------------------------------------------------------------

export const snoozeAlarm = (name: string, until: string | undefined): Promise<Alarms> =>
  manage("POST", `alarms/${part(name)}/snooze`, { body: { until } });

// B8: GET /_redrive/v1/audit?after&who&action&resource ------------------------------------------------------------

export interface AuditEntry {
  time: string;
  who: string;
  key?: string;
  from?: string;
  service?: string;
  action?: string;
  resource?: string;
  outcome: string;
  error?: string;
  requestId?: string;
  request?: unknown;
}

export interface AuditPage {
  entries: AuditEntry[];
  next?: string;
}

export const readAudit = (query: {
  after?: string;
  who?: string;
  action?: string;
  resource?: string;
}): Promise<AuditPage> => manage("GET", "audit", { query: { ...query } });

// B9: GET /_redrive/v1/archives/{bucket}?q&after, POST …/restore --------------------------------------------------

export interface ArchivedDocument {
  key: string;
  size: number;
  archivedAt?: string;
  messageId?: string;
  queue?: string;
  preview?: string;
}

export interface ArchivePage {
  documents: ArchivedDocument[];
  next?: string | undefined;
  scanned?: number;
}

export const searchArchive = (
  bucket: string,
  q: { prefix?: string; q?: string; after?: string | undefined },
): Promise<ArchivePage> =>
  withFallback(
    "B9 archives",
    () => manage("GET", `archives/${part(bucket)}`, { query: { ...q } }),
    () => fallback.archive(bucket, q),
  );

export const restoreArchived = (
  bucket: string,
  body: { keys: string[]; queue?: string; reason?: string },
): Promise<{ restored: number; problems?: string[] }> =>
  withFallback(
    "B9 restore",
    () => manage("POST", `archives/${part(bucket)}/restore`, { body }),
    () => fallback.restoreArchived(bucket, body),
  );

// B10: GET /_redrive/v1/queues/{q}/export?filter as an attachment -------------------------------------------------

export async function exportMessages(
  queue: string,
  q: { filter?: string | undefined; group?: string | undefined },
  progress: (messages: number) => void,
): Promise<Blob> {
  return withFallback(
    "B10 export",
    async () => (await send("GET", `/_redrive/v1/queues/${part(queue)}/export`, { query: { ...q } })).blob(),
    () => fallback.exportMessages(queue, q, progress),
  );
}
