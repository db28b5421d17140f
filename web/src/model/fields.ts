// Which fields messages have, from a sample of them: for completing filters and for break-downs.

import type { FieldInfo } from "./filter_completion";
import { attributeField } from "./filter_text";
import { isContainer, type JsonNode, keyOf, parseJson, pathText } from "./json_tokens";

export interface FieldSource {
  body?: string;
  attributes?: Record<string, unknown>;
}

const kDepthMax = 3;
const kFieldsMax = 200;
const kValuesMax = 20;

interface Tally {
  types: Set<string>;
  values: Map<string, number>;
}

export function fieldsOf(messages: readonly FieldSource[]): FieldInfo[] {
  const tallies = new Map<string, Tally>();
  for (const message of messages) {
    const root = message.body === undefined ? undefined : parseJson(message.body).root;
    if (root && message.body !== undefined) addBody(tallies, message.body, root);
    for (const [name, value] of Object.entries(message.attributes ?? {})) addAttribute(tallies, name, value);
  }
  return [...tallies].slice(0, kFieldsMax).map(([path, tally]) => ({
    path,
    types: [...tally.types],
    values: topValues(tally),
  }));
}

function topValues(tally: Tally): { value: string; count: number }[] {
  const sorted = [...tally.values].sort((a, b) => b[1] - a[1]).slice(0, kValuesMax);
  return sorted.map(([value, count]) => ({ value, count }));
}

function add(tallies: Map<string, Tally>, path: string, type: string, value: string | undefined): void {
  const tally = tallies.get(path) ?? { types: new Set(), values: new Map() };
  tallies.set(path, tally);
  tally.types.add(type);
  if (value !== undefined && value.length <= 80) tally.values.set(value, (tally.values.get(value) ?? 0) + 1);
}

function addBody(tallies: Map<string, Tally>, text: string, root: JsonNode): void {
  const work: { node: JsonNode; steps: (string | number)[] }[] = [{ node: root, steps: [] }];
  while (work.length > 0) {
    const item = work.pop();
    if (!item) break;
    const { node, steps } = item;
    if (steps.length > 0) {
      const type = node.kind === "true" || node.kind === "false" ? "boolean" : node.kind;
      add(tallies, pathText(steps), type, isContainer(node) ? undefined : text.slice(node.start, node.end));
    }
    if (node.kind !== "object" || steps.length >= kDepthMax) continue;
    for (const child of node.children) work.push({ node: child, steps: [...steps, keyOf(text, child) ?? ""] });
  }
}

function addAttribute(tallies: Map<string, Tally>, name: string, value: unknown): void {
  const { DataType, StringValue } = (value ?? {}) as { DataType?: string; StringValue?: string };
  add(tallies, attributeField(name), DataType ?? "String", StringValue);
}
