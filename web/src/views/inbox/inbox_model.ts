// Order and facets of the inbox.

import type { GroupRow } from "../../api/additions";
import type { Job } from "../../api/types.gen";

const kRank: Record<string, number> = { new: 0, regressed: 1, known: 3, ignored: 4, resolved: 5 };

// New, regressed, with a running job, then known by count; escalating ones first among equals.
export function inboxOrder(groups: readonly GroupRow[], runs: ReadonlyMap<string, Job>): GroupRow[] {
  const rank = (g: GroupRow): number => {
    const plain = kRank[g.status] ?? 3;
    return plain === 3 && jobOf(g, runs) ? 2 : plain;
  };
  return [...groups].sort(
    (a, b) =>
      rank(a) - rank(b) ||
      Number(b.escalating ?? false) - Number(a.escalating ?? false) ||
      b.count - a.count ||
      b.lastSeen.localeCompare(a.lastSeen),
  );
}

// The running job that takes messages from a group.
export function jobOf(group: GroupRow, running: ReadonlyMap<string, Job>): Job | undefined {
  for (const job of running.values()) {
    if (job.queue !== group.queue) continue;
    if (!job.group || job.group === group.id || job.group.includes(group.id)) return job;
  }
  return undefined;
}

export interface Facet {
  value: string;
  count: number; // Groups.
}

export interface InboxFilter {
  status: string; // "" stands for what is open: new, regressed and known.
  queue: string;
  source: string;
  consumer: string;
  q: string;
}

const isOpen = (g: GroupRow): boolean => g.status !== "ignored" && g.status !== "resolved";

function fits(group: GroupRow, filter: InboxFilter, except?: keyof InboxFilter): boolean {
  const wants = (name: keyof InboxFilter): string => (name === except ? "" : filter[name]);
  if (except !== "status" && (filter.status ? group.status !== filter.status : !isOpen(group))) return false;
  if (wants("queue") && group.queue !== wants("queue")) return false;
  if (wants("source") && !group.sources?.includes(wants("source"))) return false;
  if (wants("consumer") && !group.consumers?.includes(wants("consumer"))) return false;
  const text = wants("q").toLowerCase();
  return !text || `${group.title} ${group.queue} ${group.id} ${group.note ?? ""}`.toLowerCase().includes(text);
}

export const fitting = (groups: readonly GroupRow[], filter: InboxFilter): GroupRow[] =>
  groups.filter((g) => fits(g, filter));

export function facets(
  groups: readonly GroupRow[],
  filter: InboxFilter,
): Record<"status" | "queue" | "source" | "consumer", Facet[]> {
  const tally = (name: keyof InboxFilter, values: (g: GroupRow) => readonly string[]): Facet[] => {
    const counts = new Map<string, number>();
    for (const group of groups.filter((g) => fits(g, filter, name))) {
      for (const value of values(group)) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    return [...counts].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count);
  };
  return {
    status: tally("status", (g) => [g.status]),
    queue: tally("queue", (g) => [g.queue]),
    source: tally("source", (g) => g.sources ?? []),
    consumer: tally("consumer", (g) => g.consumers ?? []),
  };
}
