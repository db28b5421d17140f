// What the reader chose, kept in this browser: looks and columns, never contents.

import { type Signal, signal } from "@preact/signals";
import { nextTimeStyle, type TimeStyle } from "../model/time";

export type Theme = "system" | "light" | "dark";

function read<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(`redrive.${name}`);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

function write(name: string, value: unknown): void {
  try {
    localStorage.setItem(`redrive.${name}`, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing: the choice holds until the page is left.
  }
}

function kept<T>(name: string, otherwise: T): Signal<T> {
  const value = signal(read(name, otherwise));
  value.subscribe((v) => write(name, v));
  return value;
}

export const theme = kept<Theme>("theme", "system");
export const timeStyle = kept<TimeStyle>("times", "relative");
export const singleKeys = kept<boolean>("keys", true);
const columns = kept<Record<string, string[]>>("columns", {});

export function columnsOf(place: string): string[] | undefined {
  return columns.value[place];
}

export function setColumns(place: string, names: string[]): void {
  columns.value = { ...columns.value, [place]: names };
}

export function turnTimes(): void {
  timeStyle.value = nextTimeStyle(timeStyle.value);
}

theme.subscribe((value) => {
  if (typeof document === "undefined") return;
  if (value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = value;
});
