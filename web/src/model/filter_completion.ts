// What can stand at the caret of a filter.

import { type FilterToken, filterTokens, kFieldNames, quoteText } from "./filter_text";

export interface FieldInfo {
  path: string; // As the filter language writes it: $.order.total, attribute.region.
  types: string[];
  values: { value: string; count: number }[]; // JSON text for bodies, plain text for attributes.
}

export interface Completion {
  text: string; // What is inserted.
  label: string;
  note: string;
}

export interface CompletionList {
  from: number; // What is replaced.
  to: number;
  items: Completion[];
}

const kOperatorNotes: [string, string][] = [
  ["==", "equal"],
  ["!=", "not equal"],
  ["<", "less"],
  ["<=", "at most"],
  [">", "more"],
  [">=", "at least"],
  ["contains", "has the text"],
  ["startswith", "begins with"],
  ["like", "pattern with * and ?"],
  ["present", "is there"],
  ["missing", "is not there"],
  ["is", "has the JSON type"],
];

function place(text: string, caret: number): { before: FilterToken[]; word: string; from: number; to: number } {
  const tokens = filterTokens(text);
  const current = tokens.find((t) => t.start < caret && t.end >= caret && t.kind !== "paren");
  const before = tokens.filter((t) => t.end <= (current?.start ?? caret));
  const from = current?.start ?? caret;
  return { before, word: text.slice(from, caret), from, to: current?.end ?? caret };
}

export function completions(text: string, caret: number, fields: readonly FieldInfo[]): CompletionList {
  const { before, word, from, to } = place(text, caret);
  const last = before.at(-1);
  const items = itemsAfter(text, before, last, fields);
  const needle = word.toLowerCase();
  const fitting = items.filter((i) => i.text.toLowerCase().includes(needle) && i.text !== word);
  fitting.sort(
    (a, b) => Number(b.text.toLowerCase().startsWith(needle)) - Number(a.text.toLowerCase().startsWith(needle)),
  );
  return { from, to, items: fitting.slice(0, 50) };
}

function itemsAfter(
  text: string,
  before: FilterToken[],
  last: FilterToken | undefined,
  fields: readonly FieldInfo[],
): Completion[] {
  if (!last || last.kind === "word" || text.slice(last.start, last.end) === "(") return fieldItems(fields);
  if (last.kind === "field") return kOperatorNotes.map(([o, note]) => ({ text: `${o} `, label: o, note }));
  const word = text.slice(last.start, last.end).toLowerCase();
  if (last.kind === "operator" && word !== "present" && word !== "missing") {
    return valueItems(text, before, word, fields);
  }
  return ["and ", "or "].map((w) => ({ text: w, label: w.trim(), note: "" }));
}

function fieldItems(fields: readonly FieldInfo[]): Completion[] {
  const known = fields.map((f) => ({ text: `${f.path} `, label: f.path, note: f.types.join(", ") }));
  const names = kFieldNames.map((n) => ({ text: n.endsWith(".") ? n : `${n} `, label: n, note: "" }));
  return [...known, ...names, { text: "not ", label: "not", note: "" }];
}

function valueItems(text: string, before: FilterToken[], operator: string, fields: readonly FieldInfo[]): Completion[] {
  if (operator === "is") {
    return ["object", "array", "string", "number", "boolean", "null"].map((t) => ({
      text: `${t} `,
      label: t,
      note: "",
    }));
  }
  const field = before.at(-2);
  const path = field && text.slice(field.start, field.end).replace(/^body\./, "");
  const info = fields.find((f) => f.path === path);
  return (info?.values ?? []).map((v) => {
    const literal = path?.startsWith("$") ? v.value : quoteText(v.value);
    return { text: `${literal} `, label: literal, note: String(v.count) };
  });
}
