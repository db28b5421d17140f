import type { JSX } from "preact";
import { kRanges } from "../../model/time";
import type { ChartWindow } from "./use_metrics";

export function RangePicker({ window }: { window: ChartWindow }): JSX.Element {
  return (
    <div class="segmented" role="group" aria-label="Range">
      {kRanges.map((r) => (
        <button type="button" aria-pressed={window.range === r.name} onClick={() => window.setRange(r.name)}>
          {r.label}
        </button>
      ))}
      {window.range === "" && (
        <button type="button" aria-pressed="true" onClick={() => window.setRange("1h")}>
          chosen ✕
        </button>
      )}
    </div>
  );
}
