// A list of links of which one is in the tab order; arrows, j and k move.

import type { RefObject } from "preact";
import { useRef, useState } from "preact/hooks";

export interface RovingList {
  cursor: number; // -1 before the list was entered.
  ref: RefObject<HTMLUListElement | null>;
  onKeyDown: (event: KeyboardEvent) => void;
  onFocusIn: (event: FocusEvent) => void;
}

export function useRovingList(count: number): RovingList {
  const [cursor, setCursor] = useState(-1);
  const ref = useRef<HTMLUListElement>(null);
  const moveTo = (to: number): void => {
    const index = Math.min(Math.max(to, 0), count - 1);
    setCursor(index);
    const links = ref.current?.querySelectorAll<HTMLElement>("a.row-link");
    links?.[index]?.focus();
  };
  return {
    cursor: Math.min(cursor, count - 1),
    ref,
    onFocusIn: (event) => {
      const item = (event.target as Element).closest("li[data-index]");
      if (item) setCursor(Number(item.getAttribute("data-index")));
    },
    onKeyDown: (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const steps: Record<string, number> = { ArrowDown: cursor + 1, ArrowUp: cursor - 1, Home: 0, End: count - 1 };
      const target = steps[event.key];
      if (target === undefined || (event.target as Element).tagName === "INPUT") return;
      event.preventDefault();
      moveTo(target);
    },
  };
}
