// The difference to the original, always in view: removed lines above, added lines marked, and in a changed line
// the part that changed.

import { type EditorState, type Extension, RangeSetBuilder, StateField, type Text } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";
import { type DiffLine, lineDiff } from "../../model/line_diff";

class Removed extends WidgetType {
  constructor(readonly text: string) {
    super();
  }

  override eq(other: Removed): boolean {
    return other.text === this.text;
  }

  toDOM(): HTMLElement {
    const element = document.createElement("div");
    element.className = "removed-line";
    element.textContent = this.text;
    return element;
  }
}

const kAdded = Decoration.line({ class: "added-line" });
const kChanged = Decoration.mark({ class: "changed-text" });

// Where two versions of a line differ: what is equal at both ends is left out.
function changedPart(before: string, after: string): [number, number] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  ) {
    tail++;
  }
  return [head, after.length - tail];
}

function decorate(doc: Text, lines: readonly DiffLine[]): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  let number = 1;
  let removed: string[] = [];
  const flush = (at: number, side: number): void => {
    for (const text of removed)
      builder.add(at, at, Decoration.widget({ widget: new Removed(text), block: true, side }));
  };
  for (const line of lines) {
    if (line.kind === "removed") {
      removed.push(line.text);
      continue;
    }
    const place = doc.line(number++);
    flush(place.from, -1);
    if (line.kind === "added") {
      builder.add(place.from, place.from, kAdded);
      const [from, to] = removed[0] === undefined ? [0, 0] : changedPart(removed[0], line.text);
      if (to > from) builder.add(place.from + from, place.from + to, kChanged);
    }
    removed = [];
  }
  flush(doc.length, 1);
  return builder.finish();
}

export function unifiedDiff(original: string): Extension {
  const compute = (state: EditorState): DecorationSet => decorate(state.doc, lineDiff(original, state.doc.toString()));
  return StateField.define<DecorationSet>({
    create: compute,
    update: (value, transaction) => (transaction.docChanged ? compute(transaction.state) : value),
    provide: (field) => EditorView.decorations.from(field),
  });
}
