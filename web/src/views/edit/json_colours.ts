// Colours for the JSON in view.

import { RangeSetBuilder } from "@codemirror/state";
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";

const kToken = /"(?:[^"\\]|\\.)*"(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\b(?:true|false|null)\b/g;
const kKey = Decoration.mark({ class: "t-key" });
const kString = Decoration.mark({ class: "t-string" });
const kNumber = Decoration.mark({ class: "t-number" });

function colours(view: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { from, to } of view.visibleRanges) {
    const text = view.state.sliceDoc(from, Math.min(to, from + 50_000));
    for (const found of text.matchAll(kToken)) {
      const start = from + found.index;
      const isString = found[0][0] === '"';
      const length = found[0].length - (found[1]?.length ?? 0);
      builder.add(start, start + length, isString ? (found[1] === undefined ? kString : kKey) : kNumber);
    }
  }
  return builder.finish();
}

export const jsonColours = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = colours(view);
    }

    update(update: ViewUpdate): void {
      if (update.docChanged || update.viewportChanged) this.decorations = colours(update.view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);
