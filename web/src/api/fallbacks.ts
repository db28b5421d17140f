// What the additions are made of on a server that does not have them. Each function names the addition it stands
// for; when no supported server lacks that, the function goes.

import { fieldsOf } from "../model/fields";
import { quoteText } from "../model/filter_text";
import { functionOfArn, nameOfArn } from "../model/format";
import { tellingAttempt } from "../model/life";
import type {
  ArchivePage,
  Findings,
  GroupRow,
  InvocationRow,
  JobBody,
  JobMessages,
  JobOutcome,
  MessageSummary,
  Topology,
} from "./additions";
import { listMappings, listObjects } from "./aws";
import { ApiError } from "./client";
import * as api from "./manage";
import type { FailureGroup, Job, Message } from "./types.gen";

export { restoreArchived } from "./fallback_archive";
export { tryMessage } from "./fallback_try";

// A3: the cause of each group, asked for once while the group does not grow.
const causes = new Map<string, { total: number; setsApart: FailureGroup["setsApart"] }>();

export async function groupsWithCauses(groups: GroupRow[]): Promise<GroupRow[]> {
  const bare = groups.filter((g) => g.setsApart === undefined && g.count > 0);
  const stale = bare.filter((g) => causes.get(g.queue + g.id)?.total !== g.total).slice(0, 12);
  await Promise.all(
    stale.map(async (g) => {
      const whole = await api.showGroup(g.queue, g.id).catch(() => undefined);
      causes.set(g.queue + g.id, { total: g.total, setsApart: whole?.setsApart });
    }),
  );
  return groups.map((g) => {
    const known = g.setsApart ?? causes.get(g.queue + g.id)?.setsApart;
    return known ? { ...g, setsApart: known } : g;
  });
}

export function summaryOf(message: Message): MessageSummary {
  const { body, ...rest } = message;
  const telling = tellingAttempt(message.attempts ?? []);
  const dead = message.events?.findLast((e) => e.what === "dead-lettered");
  return {
    ...rest,
    preview: body.slice(0, 200),
    size: new TextEncoder().encode(body).length,
    ...(telling?.errorType ? { errorType: telling.errorType } : {}),
    ...(telling?.errorMessage ? { errorMessage: telling.errorMessage } : {}),
    ...(dead ? { deadAt: dead.at } : {}),
  };
}

// A7: picked messages by their ids, of which a job takes fifty; what is left out as a filter. More are refused:
// the server ignores members that it does not know, and a job would take messages that were not meant.
const kPickedMax = 50;
export async function selectionToday(queue: string, body: JobBody): Promise<JobBody> {
  if (!body.keys && !body.except) return body;
  const { keys, except, ...rest } = body;
  if ((keys ?? except ?? []).length > kPickedMax) {
    throw new ApiError(
      "TooManyPicked",
      `Pick or leave out at most ${kPickedMax} messages, or use a filter.`,
      0,
      undefined,
    );
  }
  const ids = async (list: number[]): Promise<string[]> =>
    Promise.all(list.map(async (key) => (await api.showMessage(queue, key)).messageId));
  if (keys) return { ...rest, messageIds: await ids(keys) };
  const without = (await ids(except ?? [])).map((id) => `not message_id == ${quoteText(id)}`);
  const filter = [rest.filter ? `(${rest.filter})` : "", ...without].filter((c) => c).join(" and ");
  return { ...rest, filter };
}

// B2: from the overview and the mappings. Producers and archives are not known.
export async function topology(): Promise<Topology> {
  const overview = await api.showOverview(1000);
  return {
    now: overview.now,
    queues: overview.queues.map((q) => ({
      name: q.name ?? "",
      fifo: q.fifo ?? false,
      visible: q.visible ?? 0,
      inFlight: q.inFlight ?? 0,
      delayed: q.delayed ?? 0,
      ...(q.deadLetterQueue ? { deadLetterQueue: q.deadLetterQueue } : {}),
    })),
    handlers: overview.handlers
      .filter((h) => h.queueArn)
      .map((h) => ({
        queue: nameOfArn(h.queueArn ?? ""),
        function: functionOfArn(h.function ?? ""),
        enabled: h.enabled ?? true,
        ...(h.mapping ? { mapping: h.mapping } : {}),
        messages: h.messages ?? 0,
        failed: h.failed ?? 0,
      })),
  };
}

// B2: only the command line can examine.
export async function findings(): Promise<Findings> {
  return { findings: [] };
}

// B4: what failed again is in its dead-letter queue, and its history names the job.
export async function jobMessages(job: Job, outcome: JobOutcome): Promise<JobMessages> {
  if (outcome !== "failed-again") return { messages: [] };
  const page = await api.peekMessages(job.queue, { limit: 500, filter: "redriven > 0" });
  const again = (page.messages ?? []).filter((m) => m.events?.some((e) => e.what === "redriven" && e.job === job.id));
  return { messages: again.map((m) => ({ ...summaryOf(m), queue: job.queue, outcome, ...bothErrors(m) })) };
}

function bothErrors(message: Message): Pick<JobMessages["messages"][number], "before" | "after"> {
  const redriven = message.events?.findLast((e) => e.what === "redriven")?.at ?? "";
  const attempts = message.attempts ?? [];
  const error = (list: typeof attempts): { type?: string; message?: string; stackTrace?: string } => {
    const telling = tellingAttempt(list);
    return {
      ...(telling?.errorType ? { type: telling.errorType } : {}),
      ...(telling?.errorMessage ? { message: telling.errorMessage } : {}),
      ...(telling?.stackTrace ? { stackTrace: telling.stackTrace } : {}),
    };
  };
  return {
    before: error(attempts.filter((a) => a.receivedAt < redriven)),
    after: error(attempts.filter((a) => a.receivedAt >= redriven)),
  };
}

// B5: from two hundred messages.
export async function fields(queue: string): Promise<{ fields: ReturnType<typeof fieldsOf> }> {
  const page = await api.peekMessages(queue, { limit: 200 });
  return { fields: fieldsOf(page.messages ?? []) };
}

// B6: from the START and REPORT lines of the function's log.
export async function invocations(name: string): Promise<{ invocations: InvocationRow[] }> {
  const { lines } = await api.showFunctionLogs(name);
  const rows = new Map<string, InvocationRow>();
  for (const line of lines) {
    if (!line.requestId) continue;
    const row = rows.get(line.requestId) ?? { requestId: line.requestId, at: line.at, outcome: "running" };
    rows.set(line.requestId, row);
    const report = /^REPORT .*?Duration: ([\d.]+) ms/.exec(line.text);
    if (report) row.durationMs = Math.round(Number(report[1]));
    if (report && row.outcome === "running") row.outcome = "succeeded";
    const error = /^\[ERROR\] ([\w.]+)(?:: (.*))?/.exec(line.text) ?? /"errorType": ?"([^"]+)"/.exec(line.text);
    if (error) Object.assign(row, { outcome: "failed", errorType: error[1], errorMessage: error[2] ?? "" });
  }
  return { invocations: [...rows.values()].reverse().slice(0, 100) };
}

// B9: what S3 lists; documents are not looked into.
export async function archive(
  bucket: string,
  q: { prefix?: string; q?: string; after?: string | undefined },
): Promise<ArchivePage> {
  const page = await listObjects(bucket, q.prefix ?? "", q.after);
  const wanted = (q.q ?? "").toLowerCase();
  const documents = page.objects
    .filter((o) => o.key.toLowerCase().includes(wanted))
    .map((o) => {
      const id = /_([0-9a-f-]{36})\.json$/.exec(o.key)?.[1];
      return { key: o.key, size: o.size, archivedAt: o.modified, ...(id ? { messageId: id } : {}) };
    });
  return { documents, next: page.next };
}

// B10: pages of exact messages as the command line writes them.
export async function exportMessages(
  queue: string,
  q: { filter?: string | undefined; group?: string | undefined },
  progress: (messages: number) => void,
): Promise<Blob> {
  const clauses = [q.filter ? `(${q.filter})` : "", q.group ? `group == ${quoteText(q.group)}` : ""];
  const filter = clauses.filter((c) => c).join(" and ") || undefined;
  const lines: string[] = [];
  let after: string | undefined;
  do {
    const page = await api.peekMessages(queue, { limit: 500, after, filter, unmasked: true });
    for (const m of page.messages ?? []) lines.push(`${JSON.stringify(exported(m))}\n`);
    progress(lines.length);
    after = page.next;
  } while (after);
  return new Blob(lines, { type: "application/octet-stream" });
}

function exported(m: Message): Record<string, unknown> {
  const { body, attributes, messageId, sentAt, receiveCount, ...rest } = m;
  return {
    MessageId: messageId,
    Body: body,
    Attributes: { SentTimestamp: String(Date.parse(sentAt)), ApproximateReceiveCount: String(receiveCount) },
    ...(attributes ? { MessageAttributes: attributes } : {}),
    Redrive: rest,
  };
}

export { listMappings };
