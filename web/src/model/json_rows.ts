// The rows of a JSON tree in which some containers are folded.

import { isContainer, type JsonNode, keyOf } from "./json_tokens";

export interface JsonRow {
  node: JsonNode;
  depth: number;
  steps: readonly (string | number)[];
  label: string | undefined; // The key, or undefined for elements and the root.
  index: number | undefined; // Of an element.
  closing: boolean; // The line with the closing bracket.
  folded: boolean;
}

// Containers that are open at first: level by level, as long as about `rowsMax` rows result.
export function openAtFirst(root: JsonNode, rowsMax = 400): Set<JsonNode> {
  const open = new Set<JsonNode>();
  let level = isContainer(root) ? [root] : [];
  let rows = 1;
  while (level.length > 0) {
    const added = level.reduce((sum, node) => sum + node.children.length + 1, 0);
    if (open.size > 0 && rows + added > rowsMax) break;
    for (const node of level) open.add(node);
    rows += added;
    level = level.flatMap((node) => node.children.filter((c) => c.children.length > 0));
  }
  return open;
}

interface Pending {
  node: JsonNode;
  depth: number;
  steps: readonly (string | number)[];
  index: number | undefined;
  closing: boolean;
}

// At most `max` rows; the caller says that there are more.
export function jsonRows(text: string, root: JsonNode, open: ReadonlySet<JsonNode>, max = 20_000): JsonRow[] {
  const rows: JsonRow[] = [];
  const work: Pending[] = [{ node: root, depth: 0, steps: [], index: undefined, closing: false }];
  while (work.length > 0 && rows.length < max) {
    const item = work.pop();
    if (!item) break;
    rows.push(rowOf(text, item, open));
    const opens = !item.closing && open.has(item.node) && item.node.children.length > 0;
    if (opens) pushChildren(text, item, work);
  }
  return rows;
}

function rowOf(text: string, item: Pending, open: ReadonlySet<JsonNode>): JsonRow {
  const folded = isContainer(item.node) && item.node.children.length > 0 && !open.has(item.node);
  return {
    node: item.node,
    depth: item.depth,
    steps: item.steps,
    label: item.closing ? undefined : keyOf(text, item.node),
    index: item.index,
    closing: item.closing,
    folded,
  };
}

function pushChildren(text: string, item: Pending, work: Pending[]): void {
  work.push({ ...item, closing: true });
  for (let i = item.node.children.length - 1; i >= 0; i--) {
    const node = item.node.children[i];
    if (!node) continue;
    const step = item.node.kind === "array" ? i : (keyOf(text, node) ?? "");
    const index = item.node.kind === "array" ? i : undefined;
    work.push({ node, depth: item.depth + 1, steps: [...item.steps, step], index, closing: false });
  }
}
