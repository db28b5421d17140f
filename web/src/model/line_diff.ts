// The difference between two texts by lines, for showing an edit without the editor.

export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
}

// The longest common subsequence by dynamic programming, after what is equal at both ends. Texts whose middles are
// larger than `cells` are shown as removed and added whole.
export function lineDiff(before: string, after: string, cells = 4_000_000): DiffLine[] {
  const a = before.split("\n");
  const b = after.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const same = (lines: string[]): DiffLine[] => lines.map((text) => ({ kind: "same", text }));
  return [
    ...same(a.slice(0, head)),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail), cells),
    ...same(a.slice(a.length - tail)),
  ];
}

function middle(a: string[], b: string[], cells: number): DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: "removed", text });
  const added = (text: string): DiffLine => ({ kind: "added", text });
  if (a.length * b.length > cells) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  const length = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => length[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      length[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const out: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ kind: "same", text: a[i] ?? "" });
      i++;
      j++;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) out.push(removed(a[i++] ?? ""));
    else out.push(added(b[j++] ?? ""));
  }
  return out;
}

export function changedFields(operations: number, attributes: number): string {
  const fields = operations + attributes;
  if (fields === 0) return "Nothing changed";
  return `${fields} ${fields === 1 ? "field" : "fields"} changed`;
}
