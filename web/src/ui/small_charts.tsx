// Charts without axes, in SVG, each with a text that says the same.

import type { JSX } from "preact";
import { countText, nounText } from "../model/format";

export function TrendBars({
  values,
  unit = "hour",
  width = 120,
}: {
  values: readonly number[];
  unit?: string;
  width?: number;
}): JSX.Element {
  const height = 20;
  const most = Math.max(...values, 1);
  const step = width / Math.max(values.length, 1);
  const sum = values.reduce((a, b) => a + b, 0);
  const last = values.at(-1) ?? 0;
  const label = `Arrivals of the last ${nounText(values.length, unit)}: ${countText(sum)}, of which ${countText(last)} in the last ${unit}`;
  return (
    <svg class="trend" width={width} height={height} role="img" aria-label={label}>
      <title>{label}</title>
      <rect class="base" x={0} y={height - 1} width={width} height={1} />
      {values.map((v, i) => {
        const h = v === 0 ? 0 : Math.max((v / most) * height, 2);
        return h === 0 ? null : <rect x={i * step} y={height - h} width={Math.max(step - 1, 1)} height={h} />;
      })}
    </svg>
  );
}

export function Sparkline(props: {
  values: readonly (number | null)[];
  label: string;
  dead?: boolean;
  width?: number;
  height?: number;
}): JSX.Element {
  const { values, width = 88, height = 20 } = props;
  const most = Math.max(1, ...values.map((v) => v ?? 0));
  const x = (i: number): string => ((i / Math.max(values.length - 1, 1)) * width).toFixed(1);
  const y = (v: number): string => (height - 1 - (v / most) * (height - 2)).toFixed(1);
  let path = "";
  values.forEach((v, i) => {
    if (v === null) return;
    const gap = i === 0 || values[i - 1] === null || values[i - 1] === undefined;
    path += `${gap ? "M" : "L"}${x(i)} ${y(v)}`;
  });
  const label = `${props.label}: now ${countText(values.findLast((v) => v !== null) ?? 0)}, at most ${countText(Math.max(0, ...values.map((v) => v ?? 0)))}`;
  return (
    <svg class={props.dead ? "spark dead" : "spark"} width={width} height={height} role="img" aria-label={label}>
      <title>{label}</title>
      <line x1={0} y1={height - 0.5} x2={width} y2={height - 0.5} />
      {path && <path d={path} />}
    </svg>
  );
}

export interface Distinction {
  sentence: string;
  deadWith: number;
  deadTotal: number;
  processedWith: number;
  processedTotal: number;
}

// How many of the dead and of the processed a sentence is true of.
export function Bars({ of }: { of: Distinction }): JSX.Element {
  const share = (a: number, b: number): string => `${b === 0 ? 0 : (100 * a) / b}%`;
  return (
    <div class="bars">
      <span>dead</span>
      <div class="track">
        <i class="dead" style={{ width: share(of.deadWith, of.deadTotal) }} />
      </div>
      <b>
        {countText(of.deadWith)} / {countText(of.deadTotal)}
      </b>
      <span>processed</span>
      <div class="track">
        <i class="ok" style={{ width: share(of.processedWith, of.processedTotal) }} />
      </div>
      <b>
        {countText(of.processedWith)} / {countText(of.processedTotal)}
      </b>
    </div>
  );
}
