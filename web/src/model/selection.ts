// Which messages an action is about. A selection is a sentence, never "the page": all that matches is the default,
// ticks pick some or leave some out.

import { nounText, shortId } from "./format";

export interface Selection {
  queue: string;
  group?: string; // Id of a failure group.
  groupTitle?: string;
  groups?: readonly string[]; // Several groups of the same queue.
  filter?: string;
  keys?: readonly number[]; // Only these.
  except?: readonly number[]; // All but these.
}

// The members of a request that mean this selection.
export interface SelectionMembers {
  group?: string;
  groups?: string[];
  filter?: string;
  keys?: number[];
  except?: number[];
}

export function selectionMembers(selection: Selection): SelectionMembers {
  const members: SelectionMembers = {};
  if (selection.group) members.group = selection.group;
  if (selection.groups?.length) members.groups = [...selection.groups];
  if (selection.filter?.trim()) members.filter = selection.filter.trim();
  if (selection.keys?.length) members.keys = [...selection.keys];
  if (selection.except?.length) members.except = [...selection.except];
  return members;
}

export function isEverything(selection: Selection): boolean {
  return Object.keys(selectionMembers(selection)).length === 0;
}

// "group 5f0c…9a2e · $.total > 100 · 25 messages · without 2"
export function selectionParts(selection: Selection, count: number | undefined): string[] {
  const parts: string[] = [];
  if (selection.keys?.length) parts.push(`${nounText(selection.keys.length, "message")} picked`);
  if (selection.group) parts.push(selection.groupTitle ?? `group ${shortId(selection.group)}`);
  if (selection.groups?.length) parts.push(nounText(selection.groups.length, "group"));
  if (selection.filter?.trim()) parts.push(selection.filter.trim());
  if (parts.length === 0) parts.push(`everything in ${selection.queue}`);
  if (count !== undefined && !selection.keys?.length) parts.push(nounText(count, "message"));
  if (selection.except?.length) parts.push(`without ${selection.except.length}`);
  return parts;
}

// How ticks change a list in which either some are picked, or everything but some.
export interface Ticks {
  all: boolean; // Everything that matches, without `keys`.
  keys: ReadonlySet<number>;
}

export const kNoTicks: Ticks = { all: false, keys: new Set() };

export function isTicked(ticks: Ticks, key: number): boolean {
  return ticks.all !== ticks.keys.has(key);
}

export function tick(ticks: Ticks, key: number, on: boolean): Ticks {
  const keys = new Set(ticks.keys);
  if (on !== ticks.all) keys.add(key);
  else keys.delete(key);
  return { all: ticks.all, keys };
}

export function tickedCount(ticks: Ticks, total: number): number {
  return ticks.all ? Math.max(total - ticks.keys.size, 0) : ticks.keys.size;
}

// What an action takes: what is ticked, or everything if nothing is.
export function withTicks(base: Selection, ticks: Ticks): Selection {
  if (ticks.keys.size === 0) return base;
  const keys = [...ticks.keys];
  return ticks.all ? { ...base, except: keys } : { queue: base.queue, keys };
}
