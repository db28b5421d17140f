// The command that does what a button does, so that the console teaches the command line.

import type { Selection } from "./selection";

export function shellWord(word: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export function shellCommand(words: readonly (string | undefined)[]): string {
  return words
    .filter((w) => w !== undefined)
    .map(shellWord)
    .join(" ");
}

const option = (name: string, value: string | number | undefined): string[] =>
  value === undefined || value === "" ? [] : [name, String(value)];

function chosen(selection: Selection): string[] {
  const groups = selection.groups ?? (selection.group ? [selection.group] : []);
  return [...groups.flatMap((g) => ["--group", g]), ...option("--filter", selection.filter?.trim())];
}

export interface RedrivePlan {
  destination?: string; // Absent: each message to the queue it came from.
  rate?: number;
  canary?: readonly number[];
  maxFailurePercent?: number;
  watchSeconds?: number;
  reason?: string;
  patch?: string;
  limit?: number;
  includeParked?: boolean;
}

const kUsualStages = "1,10,100";

// Undefined when the command line cannot say it: picked keys, exceptions and parked messages.
export function redriveCommand(
  selection: Selection,
  plan: RedrivePlan,
  messageIds?: readonly string[],
): string | undefined {
  if ((selection.keys?.length && !messageIds?.length) || selection.except?.length || plan.includeParked)
    return undefined;
  const stages = plan.canary?.join(",");
  return shellCommand([
    "redrive",
    "dlq",
    "redrive",
    selection.queue,
    ...chosen(selection),
    ...(messageIds ?? []).flatMap((id) => ["--id", id]),
    ...option("--to", plan.destination),
    ...option("--rate", plan.rate),
    ...option("--limit", plan.limit),
    ...(stages === kUsualStages ? ["--canary"] : option("--stages", stages)),
    ...option("--max-failure-percent", plan.maxFailurePercent),
    ...option("--patch", plan.patch),
    ...option("--reason", plan.reason),
  ]);
}

export function discardCommand(selection: Selection, ids: readonly string[], reason: string): string | undefined {
  if (selection.except?.length) return undefined;
  const all = !selection.group && !selection.filter && ids.length === 0;
  return shellCommand([
    "redrive",
    "dlq",
    "discard",
    selection.queue,
    ...ids,
    ...chosen(selection),
    ...(all ? ["--all"] : []),
    ...option("--reason", reason),
  ]);
}

export function markCommand(queue: string, group: string, mark: { status?: string; note?: string }): string {
  return shellCommand([
    "redrive",
    "dlq",
    "groups",
    queue,
    group,
    ...option("--mark", mark.status),
    ...option("--note", mark.note),
  ]);
}

export interface EditPlan {
  body?: string;
  set: readonly { name: string; type: string; value: string }[];
  remove: readonly string[];
  redrive: boolean;
  reason?: string;
}

export function editCommand(queue: string, message: string, plan: EditPlan): string {
  return shellCommand([
    "redrive",
    "dlq",
    "edit",
    queue,
    message,
    ...(plan.body === undefined ? [] : ["--body", plan.body]),
    ...plan.set.flatMap((a) => ["--set", `${a.name}:${a.type}=${a.value}`]),
    ...plan.remove.flatMap((name) => ["--remove", name]),
    ...(plan.redrive ? ["--redrive"] : []),
    ...option("--reason", plan.reason),
  ]);
}

export const tryCommand = (queue: string, message: string): string =>
  shellCommand(["redrive", "dlq", "try", queue, message]);
export const jobCommand = (verb: "watch" | "pause" | "resume" | "cancel" | "show", job: string): string =>
  shellCommand(["redrive", "job", verb, job]);
export const rateCommand = (job: string, rate: number): string =>
  shellCommand(["redrive", "job", "rate", job, String(rate)]);
