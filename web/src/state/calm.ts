// Nothing jumps: while the pointer or the focus is in a list, rows keep their places and new ones wait.

import { useRef, useState } from "preact/hooks";

export interface Calm<T> {
  rows: T[];
  waiting: number; // New rows that are not shown.
  show: () => void;
  handlers: {
    onPointerEnter: () => void;
    onPointerLeave: () => void;
    onFocusIn: () => void;
    onFocusOut: (event: FocusEvent) => void;
  };
}

export function useCalm<T>(wanted: readonly T[], keyOf: (row: T) => string, enabled = true): Calm<T> {
  const busy = useRef({ pointer: false, focus: false });
  const order = useRef<string[]>([]);
  const [, redraw] = useState(0);
  const byKey = new Map(wanted.map((row) => [keyOf(row), row]));
  const held = enabled && (busy.current.pointer || busy.current.focus) && order.current.length > 0;
  if (!held) order.current = [...byKey.keys()];
  const shown = new Set(order.current);
  const rows = order.current.map((key) => byKey.get(key)).filter((row): row is T => row !== undefined);
  const waiting = held ? [...byKey.keys()].filter((key) => !shown.has(key)).length : 0;
  const set = (part: "pointer" | "focus", on: boolean): void => {
    if (busy.current[part] === on) return;
    busy.current[part] = on;
    if (!on) redraw((n) => n + 1);
  };
  return {
    rows,
    waiting,
    show: () => {
      order.current = [...byKey.keys()];
      redraw((n) => n + 1);
    },
    handlers: {
      onPointerEnter: () => set("pointer", true),
      onPointerLeave: () => set("pointer", false),
      onFocusIn: () => set("focus", true),
      onFocusOut: (event) => {
        const inside = (event.currentTarget as Element | null)?.contains(event.relatedTarget as Node | null);
        if (!inside) set("focus", false);
      },
    },
  };
}
