// Series of the history for a page's charts, read again as time goes by.

import { type MetricsAnswer, queryMetrics, type SeriesQuery } from "../../api/additions";
import { kRanges, stepFor } from "../../model/time";
import { now } from "../../state/clock";
import { type Resource, useResource } from "../../state/resource";
import { replaceQuery, route } from "../../state/router";

export interface ChartWindow {
  from: number; // Seconds.
  to: number;
  step: number;
  range: string; // Name of a range; "" when chosen with the brush.
  setRange: (name: string) => void;
  brush: (from: number, to: number) => void;
}

// The range is in the URL: `range=1h`, or `from` and `to` in seconds since 1970.
export function useChartWindow(usual = "1h"): ChartWindow {
  const { query } = route.value;
  const setRange = (name: string): void =>
    replaceQuery({ range: name === usual ? undefined : name, from: undefined, to: undefined });
  const brush = (from: number, to: number): void => replaceQuery({ from, to, range: undefined });
  const from = Number(query.get("from"));
  const to = Number(query.get("to"));
  if (from > 0 && to > from) {
    return { from, to, step: stepFor(to - from, now.peek(), from * 1000), range: "", setRange, brush };
  }
  const range = kRanges.find((r) => r.name === (query.get("range") ?? usual)) ?? kRanges[1];
  const step = range?.step ?? 5;
  const seconds = range?.seconds ?? 3600;
  const refresh = Math.max(step, 5);
  const end = Math.floor(now.value / 1000 / refresh) * refresh;
  return { from: end - seconds, to: end, step, range: range?.name ?? usual, setRange, brush };
}

export function useMetrics(key: string, window: ChartWindow, series: SeriesQuery[]): Resource<MetricsAnswer> {
  return useResource(
    `metrics ${key} ${window.range} ${window.range ? "" : `${window.from} ${window.to}`}`,
    (signal) => queryMetrics({ from: window.from, to: window.to, step: window.step, series }, signal),
    `${window.to} ${series.length}`,
  );
}

// The values of one series; counters as rates per second.
export function valuesOf(answer: MetricsAnswer | undefined, metric: string, perSecond = false): (number | null)[] {
  const found = answer?.series.find((s) => s?.metric === metric);
  if (!answer || !found) return [];
  return perSecond ? found.values.map((v) => (v === null ? null : v / answer.step)) : found.values;
}
