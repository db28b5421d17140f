// The filter language of docs/dead-letters.md as text: tokens for colouring and completion, pieces for chips, and
// clauses made from values. The server decides what a filter means; this only has to agree on where words end.

import { type PathSteps, pathText } from "./json_tokens";

export type FilterTokenKind = "field" | "operator" | "word" | "text" | "number" | "paren" | "unknown";

export interface FilterToken {
  kind: FilterTokenKind;
  start: number;
  end: number;
}

const kOperators = ["==", "!=", "<=", ">=", "<", ">"];
const kOperatorWords = new Set(["contains", "startswith", "like", "is", "missing", "present"]);
const kJoiners = new Set(["and", "or", "not"]);
const kLiterals = new Set(["true", "false", "null"]);
const kTypes = new Set(["object", "array", "string", "number", "boolean"]);

// Names that stand alone; `group`, `sent` and the like. `dead`, `parked`, `consumer` and `job` need a server that
// knows them.
export const kFieldNames = [
  "attribute.",
  "body",
  "error.type",
  "error.message",
  "group",
  "lineage",
  "message_group",
  "message_id",
  "received",
  "redriven",
  "sent",
  "size",
  "source",
  "dead",
  "parked",
  "consumer",
  "job",
] as const;

const kField =
  /(?:body\.)?\$(?:\.[A-Za-z_][\w-]*|\[(?:\d+|\*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\])*|attribute(?:\.[\w.-]+|\[(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\])|error\.(?:type|message)/iy;
const kWord = /[A-Za-z_]\w*/y;
const kQuoted = /"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?/sy;
const kBare = /[^\s()"']+/y;

function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text) ? pattern.lastIndex : at;
}

export function filterTokens(text: string): FilterToken[] {
  const tokens: FilterToken[] = [];
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text[at] ?? "")) {
      at++;
      continue;
    }
    const token = nextToken(text, at, tokens.at(-1), text.slice(tokens.at(-1)?.start, tokens.at(-1)?.end));
    tokens.push(token);
    at = token.end;
  }
  return tokens;
}

function nextToken(text: string, start: number, before: FilterToken | undefined, last: string): FilterToken {
  const token = (kind: FilterTokenKind, end: number): FilterToken => ({ kind, start, end });
  const c = text[start] ?? "";
  if (c === "(" || c === ")") return token("paren", start + 1);
  if (c === '"' || c === "'") return token("text", match(kQuoted, text, start));
  const operator = kOperators.find((o) => text.startsWith(o, start));
  if (operator) return token("operator", start + operator.length);
  const wantsValue = before?.kind === "operator" && !["missing", "present"].includes(last.toLowerCase());
  const field = match(kField, text, start);
  if (!wantsValue && field > start) return token("field", field);
  const word = match(kWord, text, start);
  if (word > start) {
    const kind = kindOfWord(text.slice(start, word).toLowerCase(), wantsValue);
    if (kind !== "unknown") return token(kind, word);
  }
  const end = Math.max(match(kBare, text, start), start + 1);
  const bare = text.slice(start, end);
  const value = /^-?\d/.test(bare);
  return token(value ? "number" : "unknown", end);
}

function kindOfWord(word: string, wantsValue: boolean): FilterTokenKind {
  if (wantsValue) return kLiterals.has(word) || kTypes.has(word) ? "number" : "unknown";
  if (kJoiners.has(word)) return "word";
  if (kOperatorWords.has(word)) return "operator";
  return (kFieldNames as readonly string[]).includes(word) ? "field" : "unknown";
}

// The parts that are joined by `and` at the outermost level; one part if there is an `or` there. Joined by " and "
// they mean the same filter.
export function filterClauses(text: string): string[] {
  const tokens = filterTokens(text);
  const clauses: string[] = [];
  let depth = 0;
  let from = 0;
  for (const token of tokens) {
    const word = text.slice(token.start, token.end).toLowerCase();
    if (word === "(") depth++;
    if (word === ")") depth--;
    if (depth > 0 || token.kind !== "word") continue;
    if (word === "or") return [text.trim()];
    if (word !== "and") continue;
    clauses.push(text.slice(from, token.start).trim());
    from = token.end;
  }
  clauses.push(text.slice(from).trim());
  return clauses.filter((c) => c !== "");
}

function hasOuterOr(text: string): boolean {
  let depth = 0;
  return filterTokens(text).some((token) => {
    const word = text.slice(token.start, token.end).toLowerCase();
    if (word === "(") depth++;
    if (word === ")") depth--;
    return depth === 0 && token.kind === "word" && word === "or";
  });
}

const grouped = (text: string): string => (hasOuterOr(text) ? `(${text.trim()})` : text.trim());

// Adds a clause; one that is there already changes nothing, and the opposite of one that is there takes its place.
export function addClause(text: string, clause: string, negated = false): string {
  const added = negated ? negate(clause) : grouped(clause);
  if (text.trim() === "") return added;
  const opposite = negated ? grouped(clause) : negate(clause);
  const clauses = filterClauses(grouped(text)).filter((c) => c !== opposite);
  if (!clauses.includes(added)) clauses.push(added);
  return clauses.join(" and ");
}

export function negate(clause: string): string {
  const trimmed = clause.trim();
  if (/^not\s+/i.test(trimmed) && filterClauses(trimmed).length === 1 && !hasOuterOr(trimmed)) {
    return trimmed.replace(/^not\s+/i, "");
  }
  const simple = filterClauses(trimmed).length === 1 && !hasOuterOr(trimmed);
  return simple ? `not ${trimmed}` : `not (${trimmed})`;
}

export function removeClause(text: string, index: number): string {
  return filterClauses(text)
    .filter((_, i) => i !== index)
    .join(" and ");
}

export function quoteText(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}

export function attributeField(name: string): string {
  return /^[\w-][\w.-]*$/.test(name) ? `attribute.${name}` : `attribute[${quoteText(name)}]`;
}

// The clause that chooses messages with this value at this place of their bodies. `literal` is JSON text.
export function bodyClause(steps: PathSteps, kind: string, literal: string): string {
  const path = pathText(steps);
  if (kind === "object" || kind === "array") return `${path} is ${kind}`;
  return `${path} == ${literal}`;
}

export function attributeClause(name: string, value: string | undefined): string {
  return value === undefined ? `${attributeField(name)} present` : `${attributeField(name)} == ${quoteText(value)}`;
}

// Where the server says that a filter is wrong: "At position 12: expected …". Undefined when it names no position.
export function problemRange(
  text: string,
  message: string,
  position?: number,
): { start: number; end: number } | undefined {
  const from = position ?? Number(/At position (\d+)/.exec(message)?.[1]);
  if (!Number.isFinite(from) || from < 1) return undefined;
  // The server counts bytes of UTF-8.
  const bytes = new TextEncoder().encode(text);
  const start = new TextDecoder().decode(bytes.slice(0, from - 1)).length;
  const token = filterTokens(text).find((t) => t.end > start);
  return { start: Math.min(start, text.length), end: Math.max(token?.end ?? text.length, start + 1) };
}
