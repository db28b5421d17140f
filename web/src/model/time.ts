// Times as people read them. Everything takes the present as an argument: it is the server's, which may be virtual.

export type TimeStyle = "relative" | "local" | "utc";

const kSecond = 1000;
const kMinute = 60 * kSecond;
const kHour = 60 * kMinute;
const kDay = 24 * kHour;

export function parseTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

// "40 s", "12 min", "3 d 21 h": the largest unit, and the next one where it matters.
export function durationText(ms: number): string {
  const abs = Math.abs(ms);
  if (abs < kSecond) return `${Math.round(abs)} ms`;
  if (abs < kMinute) return `${Math.floor(abs / kSecond)} s`;
  if (abs < kHour) return `${Math.floor(abs / kMinute)} min`;
  if (abs < kDay) return twoUnits(abs, kHour, "h", kMinute, "min");
  if (abs < 60 * kDay) return twoUnits(abs, kDay, "d", kHour, "h");
  if (abs < 730 * kDay) return `${Math.floor(abs / (30 * kDay))} months`;
  return `${Math.floor(abs / (365 * kDay))} years`;
}

function twoUnits(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const first = Math.floor(ms / large);
  const second = Math.floor((ms % large) / small);
  return second === 0 || first >= 10 ? `${first} ${largeName}` : `${first} ${largeName} ${second} ${smallName}`;
}

export function relativeText(at: number, now: number): string {
  const past = now - at;
  if (Math.abs(past) < kSecond) return "now";
  return past > 0 ? `${durationText(past)} ago` : `in ${durationText(past)}`;
}

const two = (n: number): string => String(n).padStart(2, "0");

export function clockText(at: number, utc: boolean): string {
  const d = new Date(at);
  const parts = utc
    ? [d.getUTCHours(), d.getUTCMinutes(), d.getUTCSeconds()]
    : [d.getHours(), d.getMinutes(), d.getSeconds()];
  return parts.map(two).join(":");
}

export function dayText(at: number, utc: boolean): string {
  const d = new Date(at);
  return utc
    ? `${d.getUTCFullYear()}-${two(d.getUTCMonth() + 1)}-${two(d.getUTCDate())}`
    : `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}

// The clock alone for times of the same day.
export function absoluteText(at: number, now: number, utc: boolean): string {
  const clock = clockText(at, utc) + (utc ? "Z" : "");
  return dayText(at, utc) === dayText(now, utc) ? clock : `${dayText(at, utc)} ${clock}`;
}

export function timeText(at: number, now: number, style: TimeStyle): string {
  return style === "relative" ? relativeText(at, now) : absoluteText(at, now, style === "utc");
}

// For hover and focus: both exact forms.
export function exactText(at: number): string {
  return `${dayText(at, false)} ${clockText(at, false)} local · ${dayText(at, true)} ${clockText(at, true)} UTC`;
}

export function nextTimeStyle(style: TimeStyle): TimeStyle {
  return style === "relative" ? "local" : style === "local" ? "utc" : "relative";
}

export interface ChartRange {
  name: string; // As it stands in the URL: 15m, 1h, 14d.
  label: string;
  seconds: number;
  step: number; // Seconds between points, at most 2,000 of them.
}

export const kRanges: readonly ChartRange[] = [
  { name: "15m", label: "15 min", seconds: 900, step: 1 },
  { name: "1h", label: "1 h", seconds: 3600, step: 5 },
  { name: "6h", label: "6 h", seconds: 6 * 3600, step: 60 },
  { name: "24h", label: "24 h", seconds: 86400, step: 60 },
  { name: "3d", label: "3 d", seconds: 3 * 86400, step: 300 },
  { name: "14d", label: "14 d", seconds: 14 * 86400, step: 900 },
];

// The step for a range chosen by hand.
export function stepFor(seconds: number, nowMs: number, fromMs: number): number {
  const recent = nowMs - fromMs < 3600 * kSecond;
  const least = Math.ceil(seconds / 1500);
  if (recent && seconds <= 3600) return Math.max(least, 1);
  return Math.max(Math.ceil(least / 60) * 60, 60);
}
