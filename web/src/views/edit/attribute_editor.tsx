// Attributes of a message as rows that can be changed, added and removed.

import type { JSX } from "preact";
import { Icon } from "../../ui/parts";
import type { AttributeRow } from "./edit_model";

export function AttributeEditor({
  rows,
  change,
}: {
  rows: AttributeRow[];
  change: (rows: AttributeRow[]) => void;
}): JSX.Element {
  const set = (index: number, part: Partial<AttributeRow>): void =>
    change(rows.map((r, i) => (i === index ? { ...r, ...part } : r)));
  return (
    <div class="attribute-editor">
      {rows.map((row, i) => (
        <div class="attribute-row">
          <input
            aria-label="Name"
            placeholder="name"
            value={row.name}
            disabled={row.binary}
            onInput={(e) => set(i, { name: e.currentTarget.value })}
          />
          <select
            aria-label={`Type of ${row.name}`}
            value={row.type}
            disabled={row.binary}
            onChange={(e) => set(i, { type: e.currentTarget.value })}
          >
            {[...new Set(["String", "Number", row.type])].map((t) => (
              <option value={t}>{t}</option>
            ))}
          </select>
          <input
            aria-label={`Value of ${row.name}`}
            placeholder="value"
            value={row.binary ? "binary: cannot be edited as text" : row.value}
            disabled={row.binary}
            onInput={(e) => set(i, { value: e.currentTarget.value })}
          />
          <button
            type="button"
            class="icon"
            aria-label={`Remove ${row.name}`}
            onClick={() => change(rows.filter((_, j) => j !== i))}
          >
            <Icon name="x" />
          </button>
        </div>
      ))}
      <button
        type="button"
        class="small plain"
        onClick={() => change([...rows, { name: "", type: "String", value: "", binary: false }])}
      >
        <Icon name="plus" /> Attribute
      </button>
    </div>
  );
}
