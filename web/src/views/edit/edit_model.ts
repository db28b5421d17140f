// What an edit changes: the body, and attributes as rows.

import type { MessageAttribute } from "../../api/aws";
import { makePatch } from "../../model/json_patch";

export interface AttributeRow {
  name: string;
  type: string;
  value: string;
  binary: boolean; // Shown, not edited: its bytes are no text.
}

export function rowsOf(attributes: Record<string, unknown> | undefined): AttributeRow[] {
  return Object.entries((attributes ?? {}) as Record<string, MessageAttribute>).map(([name, a]) => ({
    name,
    type: a.DataType,
    value: a.StringValue ?? a.BinaryValue ?? "",
    binary: a.BinaryValue !== undefined,
  }));
}

export interface AttributeChanges {
  set: AttributeRow[];
  remove: string[];
}

export function attributeChanges(before: readonly AttributeRow[], after: readonly AttributeRow[]): AttributeChanges {
  const old = new Map(before.map((r) => [r.name, r]));
  const kept = new Set(after.map((r) => r.name));
  const set = after.filter((r) => {
    const was = old.get(r.name);
    return r.name !== "" && !r.binary && (was === undefined || was.value !== r.value || was.type !== r.type);
  });
  return { set, remove: before.filter((r) => !kept.has(r.name)).map((r) => r.name) };
}

export function asAttributes(rows: readonly AttributeRow[]): Record<string, MessageAttribute> {
  return Object.fromEntries(rows.map((r) => [r.name, { DataType: r.type, StringValue: r.value }]));
}

// Fields that differ; a text that is not JSON counts as one.
export function changedCount(before: string, after: string, changes: AttributeChanges): number {
  const attributes = changes.set.length + changes.remove.length;
  if (before === after) return attributes;
  return attributes + Math.max(makePatch(before, after)?.length ?? 1, 1);
}

export function countWords(fields: number): string {
  if (fields === 0) return "nothing changed";
  return `${fields} ${fields === 1 ? "field" : "fields"} changed`;
}
