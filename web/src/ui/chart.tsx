// A chart with axes: uPlot, loaded when first shown. Brushing chooses a range.

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { countText } from "../model/format";
import { clockText, dayText } from "../model/time";

export type SeriesColour = "accent" | "ok" | "wait" | "dead" | "warn" | "muted";

export interface ChartSeries {
  label: string;
  colour: SeriesColour;
  dashed?: boolean;
  fill?: boolean;
  values: (number | null)[];
}

export interface ChartMark {
  at: number; // Seconds.
  text: string;
  colour: SeriesColour;
}

export interface ChartProps {
  label: string;
  from: number; // Seconds since 1970 of the first value.
  step: number;
  series: readonly ChartSeries[];
  stacked?: boolean;
  marks?: readonly ChartMark[];
  unit?: (value: number) => string;
  height?: number;
  durations?: boolean; // Values are seconds.
  onRange?: (from: number, to: number) => void;
}

function colourOf(name: SeriesColour | "line" | "faint"): string {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

const translucent = (colour: string): string => colour.replace(/^rgb\((.*)\)$/, "rgba($1, 0.12)");

// Each series on top of those before it; gaps stay gaps.
function stack(series: readonly ChartSeries[]): (number | null)[][] {
  const sums: number[] = [];
  return series.map((s) =>
    s.values.map((v, i) => {
      if (v === null) return null;
      sums[i] = (sums[i] ?? 0) + v;
      return sums[i] ?? 0;
    }),
  );
}

// Times of an axis: the clock within a day, the day where a new one begins or for long ranges.
function timeTicks(ticks: number[]): string[] {
  const span = (ticks.at(-1) ?? 0) - (ticks[0] ?? 0);
  return ticks.map((t) => {
    const clock = clockText(t * 1000, false);
    const day = dayText(t * 1000, false).slice(5);
    if (span > 2 * 86_400) return day;
    if (clock === "00:00:00") return day;
    return span < 300 ? clock : clock.slice(0, 5);
  });
}

const kDurationSteps = [
  1, 5, 15, 30, 60, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400, 172_800, 604_800,
];

// A stack is drawn from its top layer down, so that a layer without messages does not hide the one below.
function drawn(props: ChartProps): readonly ChartSeries[] {
  return props.stacked ? props.series.toReversed() : props.series;
}

function optionsOf(props: ChartProps, width: number): uPlot.Options {
  const axis = { stroke: colourOf("faint"), grid: { stroke: colourOf("line"), width: 1 }, ticks: { show: false } };
  const unit = props.unit ?? ((v: number): string => countText(v));
  const marks = props.marks ?? [];
  return {
    width,
    height: props.height ?? 160,
    legend: { show: false },
    cursor: {
      sync: { key: "redrive" },
      drag: { x: true, y: false, setScale: false },
      points: { size: 6 },
    },
    scales: { x: { time: true }, y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.08 : 1] } },
    axes: [
      { ...axis, size: 28, space: 72, values: (_u, ticks) => timeTicks(ticks) },
      {
        ...axis,
        size: 56,
        ...(props.durations ? { incrs: kDurationSteps } : {}),
        values: (_u, ticks) => ticks.map((t) => (Number.isInteger(t) || props.unit ? unit(t) : "")),
      },
    ],
    series: [
      {},
      ...drawn(props).map((s) => {
        const stroke = colourOf(s.colour);
        return {
          label: s.label,
          stroke,
          width: 1.5,
          points: { show: false },
          ...(s.dashed ? { dash: [5, 4] } : {}),
          ...(props.stacked || s.fill ? { fill: translucent(stroke) } : {}),
        };
      }),
    ],
    // Between two layers of a stack; the last one, which is drawn over the others, reaches down to zero.
    ...(props.stacked
      ? { bands: props.series.slice(1).map((_, i) => ({ series: [i + 1, i + 2] as [number, number] })) }
      : {}),
    hooks: {
      setSelect: [
        (u) => {
          if (u.select.width < 6 || !props.onRange) return;
          const from = u.posToVal(u.select.left, "x");
          const to = u.posToVal(u.select.left + u.select.width, "x");
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          props.onRange(Math.floor(from), Math.ceil(to));
        },
      ],
      draw: [(u) => drawMarks(u, marks)],
    },
  };
}

function drawMarks(u: uPlot, marks: readonly ChartMark[]): void {
  for (const mark of marks) {
    const x = u.valToPos(mark.at, "x", true);
    if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) continue;
    u.ctx.save();
    u.ctx.strokeStyle = colourOf(mark.colour);
    u.ctx.setLineDash([2, 3]);
    u.ctx.beginPath();
    u.ctx.moveTo(x, u.bbox.top);
    u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
    u.ctx.stroke();
    u.ctx.restore();
  }
}

function dataOf(props: ChartProps): uPlot.AlignedData {
  const length = Math.max(0, ...props.series.map((s) => s.values.length));
  const times = Array.from({ length }, (_, i) => props.from + i * props.step);
  const rows = props.stacked ? stack(props.series).reverse() : props.series.map((s) => s.values);
  return [times, ...rows] as uPlot.AlignedData;
}

function summary(props: ChartProps): string {
  const unit = props.unit ?? ((v: number): string => countText(v));
  const parts = props.series.map((s) => {
    const known = s.values.filter((v) => v !== null);
    return known.length === 0
      ? `${s.label}: nothing measured`
      : `${s.label}: now ${unit(known.at(-1) ?? 0)}, at most ${unit(Math.max(...known))}`;
  });
  return `${props.label}. ${parts.join("; ")}`;
}

export function Chart(props: ChartProps): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const shape = `${props.series.map((s) => s.label + s.colour).join()} ${props.step} ${props.marks?.length ?? 0}`;
  useEffect(() => {
    let ended = false;
    let resize: ResizeObserver | undefined;
    const theme = new MutationObserver(() => redraw());
    const redraw = (): void => {
      const element = host.current;
      if (!element || !plot.current) return;
      plot.current.destroy();
      plot.current = undefined;
      draw();
    };
    let draw = (): void => {};
    void import("uplot").then(({ default: Plot }) => {
      draw = (): void => {
        const element = host.current;
        if (!element || ended) return;
        plot.current = new Plot(
          optionsOf(latest.current, Math.max(element.clientWidth, 120)),
          dataOf(latest.current),
          element,
        );
      };
      draw();
      resize = new ResizeObserver(() => {
        const width = host.current?.clientWidth ?? 0;
        if (plot.current && width > 0) plot.current.setSize({ width, height: latest.current.height ?? 160 });
      });
      if (host.current) resize.observe(host.current);
      theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    });
    return () => {
      ended = true;
      resize?.disconnect();
      theme.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => {
    plot.current?.setData(dataOf(props));
  });
  return (
    <figure class="chart">
      <figcaption class="legend">
        {props.series.map((s) => (
          <span>
            <i class={`c-${s.colour}${s.dashed ? " dashed" : ""}`} />
            {s.label} <b>{lastText(s, props.unit)}</b>
          </span>
        ))}
      </figcaption>
      <div ref={host} role="img" aria-label={summary(props)} style={{ minHeight: `${props.height ?? 160}px` }} />
    </figure>
  );
}

function lastText(series: ChartSeries, unit: ChartProps["unit"]): string {
  const last = series.values.findLast((v) => v !== null);
  return last === undefined || last === null ? "–" : (unit ?? countText)(last);
}
