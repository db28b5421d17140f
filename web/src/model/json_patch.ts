// The JSON Patch (RFC 6902) that makes one document of another. Values are copied from the text, so numbers
// keep their digits.

import { encodeString, isContainer, type JsonNode, keyOf, parseJson, pointerText } from "./json_tokens";

export interface PatchOperation {
  op: "add" | "remove" | "replace";
  path: string;
  value?: string; // As JSON text.
}

interface Side {
  text: string;
  node: JsonNode;
}

// Undefined when one of the two is not JSON, or has duplicate keys, which a patch cannot address.
export function makePatch(before: string, after: string): PatchOperation[] | undefined {
  const from = parseJson(before).root;
  const to = parseJson(after).root;
  if (!from || !to) return undefined;
  const operations: PatchOperation[] = [];
  const done = compare({ text: before, node: from }, { text: after, node: to }, [], operations);
  return done ? operations : undefined;
}

export function patchText(operations: readonly PatchOperation[]): string {
  const lines = operations.map((o) => {
    const value = o.value === undefined ? "" : `, "value": ${o.value}`;
    return `{"op": "${o.op}", "path": ${encodeString(o.path)}${value}}`;
  });
  return `[${lines.join(",\n ")}]`;
}

const source = (side: Side): string => side.text.slice(side.node.start, side.node.end);

function compare(a: Side, b: Side, steps: (string | number)[], out: PatchOperation[]): boolean {
  if (source(a) === source(b)) return true;
  if (a.node.kind === "object" && b.node.kind === "object") return compareObjects(a, b, steps, out);
  if (a.node.kind === "array" && b.node.kind === "array") return compareArrays(a, b, steps, out);
  if (!isContainer(a.node) || !isContainer(b.node) || a.node.kind !== b.node.kind) {
    out.push({ op: "replace", path: pointerText(steps), value: source(b) });
  }
  return true;
}

function members(side: Side): Map<string, JsonNode> | undefined {
  const map = new Map<string, JsonNode>();
  for (const child of side.node.children) {
    const key = keyOf(side.text, child) ?? "";
    if (map.has(key)) return undefined;
    map.set(key, child);
  }
  return map;
}

function compareObjects(a: Side, b: Side, steps: (string | number)[], out: PatchOperation[]): boolean {
  const left = members(a);
  const right = members(b);
  if (!left || !right) return false;
  for (const key of left.keys()) {
    if (!right.has(key)) out.push({ op: "remove", path: pointerText([...steps, key]) });
  }
  for (const [key, node] of right) {
    const old = left.get(key);
    const path = [...steps, key];
    if (!old) out.push({ op: "add", path: pointerText(path), value: b.text.slice(node.start, node.end) });
    else if (!compare({ text: a.text, node: old }, { text: b.text, node }, path, out)) return false;
  }
  return true;
}

// Element by element when the length is the same; otherwise what is equal at both ends stays and the middle is
// taken out and put in.
function compareArrays(a: Side, b: Side, steps: (string | number)[], out: PatchOperation[]): boolean {
  const left = a.node.children;
  const right = b.node.children;
  const same = (i: number, j: number): boolean => {
    const l = left[i];
    const r = right[j];
    return !!l && !!r && a.text.slice(l.start, l.end) === b.text.slice(r.start, r.end);
  };
  if (left.length === right.length) {
    return left.every((node, i) => {
      const other = right[i];
      return !other || compare({ text: a.text, node }, { text: b.text, node: other }, [...steps, i], out);
    });
  }
  let head = 0;
  while (head < left.length && head < right.length && same(head, head)) head++;
  let tail = 0;
  while (
    tail < left.length - head &&
    tail < right.length - head &&
    same(left.length - 1 - tail, right.length - 1 - tail)
  ) {
    tail++;
  }
  for (let i = left.length - tail - 1; i >= head; i--) out.push({ op: "remove", path: pointerText([...steps, i]) });
  for (let i = head; i < right.length - tail; i++) {
    const node = right[i];
    if (node) out.push({ op: "add", path: pointerText([...steps, i]), value: b.text.slice(node.start, node.end) });
  }
  return true;
}
