// Applies a JSON Patch to a document's text, for showing before and after. The server decides; this follows
// RFC 6902 for add, remove, replace and test, and keeps every byte that the patch does not touch.

import { isContainer, type JsonNode, keyOf, parseJson } from "./json_tokens";

export interface Applied {
  after: string | undefined;
  problem: string | undefined;
}

interface Operation {
  op: string;
  path: string;
  value: string | undefined; // JSON text.
}

const failed = (problem: string): Applied => ({ after: undefined, problem });

function operationsOf(patch: string): Operation[] | undefined {
  const { root } = parseJson(patch);
  if (root?.kind !== "array") return undefined;
  const operations: Operation[] = [];
  for (const node of root.children) {
    if (node.kind !== "object") return undefined;
    const member = (name: string): JsonNode | undefined => node.children.find((c) => keyOf(patch, c) === name);
    const text = (name: string): string | undefined => {
      const found = member(name);
      return found?.kind === "string" ? (JSON.parse(patch.slice(found.start, found.end)) as string) : undefined;
    };
    const value = member("value");
    const op = text("op");
    const path = text("path");
    if (op === undefined || path === undefined) return undefined;
    operations.push({ op, path, value: value && patch.slice(value.start, value.end) });
  }
  return operations;
}

function steps(path: string): string[] {
  return path
    .split("/")
    .slice(1)
    .map((s) => s.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function childOf(text: string, node: JsonNode, step: string): JsonNode | undefined {
  if (node.kind === "array") return /^\d+$/.test(step) ? node.children[Number(step)] : undefined;
  return node.children.find((c) => keyOf(text, c) === step);
}

export function applyPatch(document: string, patch: string): Applied {
  const operations = operationsOf(patch);
  if (!operations) return failed("This is not a JSON Patch.");
  let text = document;
  for (const [i, operation] of operations.entries()) {
    const next = applyOne(text, operation);
    if (next.after === undefined) return failed(`Operation ${i + 1}: ${next.problem}`);
    text = next.after;
  }
  return { after: text, problem: undefined };
}

function applyOne(text: string, operation: Operation): Applied {
  const { root } = parseJson(text);
  if (!root) return failed("the body is not JSON.");
  const path = steps(operation.path);
  const last = path.pop();
  if (last === undefined) return whole(text, root, operation);
  let parent = root;
  for (const step of path) {
    const found = isContainer(parent) ? childOf(text, parent, step) : undefined;
    if (!found) return failed(`there is nothing at ${operation.path}.`);
    parent = found;
  }
  const target = childOf(text, parent, last);
  switch (operation.op) {
    case "replace":
      return target
        ? splice(text, target.start, target.end, operation.value ?? "null")
        : failed(`there is nothing at ${operation.path}.`);
    case "remove":
      return target ? removeFrom(text, parent, target) : failed(`there is nothing at ${operation.path}.`);
    case "add":
      return addTo(text, parent, target, last, operation.value ?? "null");
    case "test":
      return target && text.slice(target.start, target.end) === operation.value
        ? { after: text, problem: undefined }
        : failed("the value is another.");
    default:
      return failed(`${operation.op} is not shown here; the server knows it.`);
  }
}

const splice = (text: string, from: number, to: number, with_: string): Applied => ({
  after: text.slice(0, from) + with_ + text.slice(to),
  problem: undefined,
});

function whole(text: string, root: JsonNode, operation: Operation): Applied {
  if (operation.op === "replace" || operation.op === "add")
    return splice(text, root.start, root.end, operation.value ?? "null");
  return failed("the whole document cannot be removed.");
}

const begin = (node: JsonNode): number => (node.keyStart < 0 ? node.start : node.keyStart);

function removeFrom(text: string, parent: JsonNode, target: JsonNode): Applied {
  const index = parent.children.indexOf(target);
  const next = parent.children[index + 1];
  if (next) return splice(text, begin(target), begin(next), "");
  const before = parent.children[index - 1];
  return splice(text, before ? before.end : begin(target), target.end, "");
}

function addTo(text: string, parent: JsonNode, target: JsonNode | undefined, name: string, value: string): Applied {
  if (parent.kind === "array") {
    const at = name === "-" ? parent.children.length : Number(name);
    if (!Number.isInteger(at) || at < 0 || at > parent.children.length)
      return failed(`there is no place ${name} in the list.`);
    const next = parent.children[at];
    if (next) return splice(text, next.start, next.start, `${value}, `);
    return append(text, parent, value);
  }
  if (parent.kind !== "object") return failed("there is no object to add to.");
  if (target) return splice(text, target.start, target.end, value);
  return append(text, parent, `${JSON.stringify(name)}: ${value}`);
}

function append(text: string, parent: JsonNode, member: string): Applied {
  const last = parent.children.at(-1);
  return last
    ? splice(text, last.end, last.end, `, ${member}`)
    : splice(text, parent.start + 1, parent.end - 1, member);
}
