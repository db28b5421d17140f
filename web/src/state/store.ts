// The one store of what the server tells: rows by id, changed in place. Views subscribe by signal.

import { batch, computed, type Signal, signal } from "@preact/signals";
import type { AlarmRow, Changes, GroupRow, HandlerRow, QueueRow } from "../api/additions";
import { Live } from "../api/live";
import type { Job } from "../api/types.gen";
import { parseTime } from "../model/time";
import { serverSaid } from "./clock";
import { lostContact, regainedContact } from "./contact";

export interface Rates {
  in: number;
  out: number;
  dead: number;
}

export type LiveQueue = QueueRow & { name: string; rates: Rates };

export const queues: Signal<ReadonlyMap<string, LiveQueue>> = signal(new Map());
export const groups: Signal<ReadonlyMap<string, GroupRow>> = signal(new Map());
export const jobs: Signal<ReadonlyMap<string, Job>> = signal(new Map());
export const alarms: Signal<ReadonlyMap<string, AlarmRow>> = signal(new Map());
const handlerRows: Signal<ReadonlyMap<string, HandlerRow>> = signal(new Map());
export const handlers = computed<readonly HandlerRow[]>(() => [...handlerRows.value.values()]);
export const loaded = signal(false);
export const livePaused = signal(false);
// Counts resets, so that views with data of their own read again.
export const epoch = signal(0);

export const groupKey = (queue: string, group: string): string => `${queue} ${group}`;

interface Counters {
  at: number;
  sent: number;
  deleted: number;
  dead: number;
}
const counters = new Map<string, Counters>();
const kNoRates: Rates = { in: 0, out: 0, dead: 0 };

// Counters run since the server started: two answers make a rate.
function ratesOf(row: QueueRow, at: number, before: LiveQueue | undefined): Rates {
  const name = row.name ?? "";
  const deadCount = (row.deadLettered ?? 0) + (row.deadLetteredAway ?? 0);
  const now: Counters = { at, sent: row.sent ?? 0, deleted: row.deleted ?? 0, dead: deadCount };
  const last = counters.get(name);
  const seconds = last ? (at - last.at) / 1000 : 0;
  if (last && seconds < 1) return before?.rates ?? kNoRates;
  counters.set(name, now);
  if (!last || seconds > 120 || now.sent < last.sent) return kNoRates;
  const per = (a: number, b: number): number => Math.max(a - b, 0) / seconds;
  return { in: per(now.sent, last.sent), out: per(now.deleted, last.deleted), dead: per(now.dead, last.dead) };
}

function merge<T>(
  target: Signal<ReadonlyMap<string, T>>,
  rows: readonly T[] | undefined,
  gone: readonly string[] | undefined,
  reset: boolean,
  key: (row: T) => string,
): void {
  if (!rows && !gone?.length) return;
  const next = new Map(reset && rows ? [] : target.value);
  for (const row of rows ?? []) next.set(key(row), row);
  for (const id of gone ?? []) next.delete(id);
  target.value = next;
}

function applyQueues(changes: Changes, at: number): void {
  const rows = changes.queues?.map((row): LiveQueue => {
    const name = row.name ?? "";
    return { ...row, name, rates: ratesOf(row, at, queues.value.get(name)) };
  });
  merge(queues, rows, changes.gone?.queues, changes.reset ?? false, (q) => q.name);
  // Queues that were not mentioned are quiet.
  if (!changes.reset && rows) quieten(new Set(rows.map((r) => r.name)), at);
}

function quieten(mentioned: ReadonlySet<string>, at: number): void {
  const next = new Map(queues.value);
  let changed = false;
  for (const [name, row] of next) {
    const last = counters.get(name);
    if (mentioned.has(name) || row.rates === kNoRates || (last && at - last.at < 3000)) continue;
    next.set(name, { ...row, rates: kNoRates });
    changed = true;
  }
  if (changed) queues.value = next;
}

export function applyChanges(changes: Changes): void {
  const at = parseTime(changes.now) ?? Date.now();
  batch(() => {
    serverSaid(at);
    applyQueues(changes, at);
    const reset = changes.reset ?? false;
    merge(groups, changes.groups, changes.gone?.groups, reset, (g) => groupKey(g.queue, g.id));
    for (const g of changes.groups ?? []) titles.set(groupKey(g.queue, g.id), g.title);
    merge(jobs, changes.jobs, changes.gone?.jobs, false, (j) => j.id);
    merge(alarms, changes.alarms, changes.gone?.alarms, reset, (a) => a.name);
    merge(handlerRows, changes.handlers, changes.gone?.handlers, reset, (h) => h.mapping ?? h.function ?? "");
    loaded.value = true;
  });
}

// Titles of groups that were seen: a job outlives the group that it emptied.
const titles = new Map<string, string>();

export function groupTitle(queue: string, group: string): string | undefined {
  const row = groups.value.get(groupKey(queue, group));
  if (row) titles.set(groupKey(queue, group), row.title);
  return row?.title ?? titles.get(groupKey(queue, group));
}

// What an answer to a request of our own says, before the news come.
export function noteJob(job: Job): void {
  jobs.value = new Map(jobs.value).set(job.id, job);
}

export function noteGroup(group: GroupRow): void {
  const key = groupKey(group.queue, group.id);
  groups.value = new Map(groups.value).set(key, { ...groups.value.get(key), ...group });
}

export const live = new Live({
  changes: applyChanges,
  contact: (state) => {
    if (state.lost) lostContact(state.retryAt);
    else if (regainedContact()) epoch.value++;
  },
});

export function pauseLive(paused: boolean): void {
  livePaused.value = paused;
  live.setPaused(paused);
}

export const queueNames = computed(() => [...queues.value.keys()].sort());
export const isDeadLetterQueue = (queue: QueueRow): boolean => (queue.sources?.length ?? 0) > 0;
export const messagesIn = (q: QueueRow): number => (q.visible ?? 0) + (q.inFlight ?? 0) + (q.delayed ?? 0);

export const deadLetterQueues = computed(() => {
  const named = new Set([...queues.value.values()].map((q) => q.deadLetterQueue).filter((n) => n !== undefined));
  return [...queues.value.values()].filter((q) => named.has(q.name) || isDeadLetterQueue(q));
});
export const deadLetterCount = computed(() => deadLetterQueues.value.reduce((n, q) => n + messagesIn(q), 0));
export const newGroupCount = computed(
  () =>
    [...groups.value.values()].filter((g) => (g.status === "new" || g.status === "regressed") && g.count > 0).length,
);
export const isOver = (job: Job): boolean =>
  job.status === "completed" || job.status === "cancelled" || job.status === "failed";
export const runningJobs = computed(() => [...jobs.value.values()].filter((j) => !isOver(j)));
export const ringingAlarms = computed(() => [...alarms.value.values()].filter((a) => a.state === "ALARM").length);
