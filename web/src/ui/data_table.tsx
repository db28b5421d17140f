// A table of fixed rows, of which only those in view exist. Works with a million rows and with a screen reader's
// table keys (role grid, one row in the tab order).

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { contentHeight, rowWindow, scrollToRow } from "../model/scroll";

export interface Column<T> {
  name: string;
  head: ComponentChildren;
  width: string; // For grid-template-columns.
  class?: string;
  cell: (row: T, index: number) => ComponentChildren;
}

export interface DataTableProps<T> {
  label: string;
  columns: readonly Column<T>[];
  rowCount: number;
  row: (index: number) => T | undefined; // Undefined: not there yet.
  rowKey: (row: T) => string | number;
  cursor: number; // Index of the row with the cursor; -1: none.
  onCursor: (index: number, row: T | undefined) => void;
  onOpen?: (index: number, row: T) => void;
  onKey?: (event: KeyboardEvent, index: number, row: T | undefined) => boolean;
  want?: (first: number, count: number) => void;
  height?: number; // Pixels of the rows' area; absent: as high as the rows, up to 60 % of the window.
  isSelected?: (row: T) => boolean;
  startRow?: number; // In view at first.
  onScrollRow?: (first: number) => void; // Told when scrolling has paused.
}

function rowHeight(): number {
  const text = getComputedStyle(document.documentElement).getPropertyValue("--row");
  return Number.parseFloat(text) || 32;
}

export function DataTable<T>(props: DataTableProps<T>): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [size, setSize] = useState(() => rowHeight());
  const most = props.height ?? Math.max(Math.round(window.innerHeight * 0.6), 200);
  const viewHeight = Math.min(most, Math.max(props.rowCount * size, size));
  const geometry = { rowHeight: size, rowCount: props.rowCount, viewHeight };
  const shown = rowWindow(geometry, top);
  const focusWanted = useRef(false);
  const scrolled = useRef<ReturnType<typeof setTimeout>>(undefined);
  useLayoutEffect(() => {
    const element = scroller.current;
    const to = element && props.startRow ? scrollToRow(geometry, 0, props.startRow) : undefined;
    if (element && to !== undefined) element.scrollTop = to;
  }, []);

  useEffect(() => {
    props.want?.(shown.first, shown.count);
  }, [shown.first, shown.count, props.rowCount]);
  useEffect(() => {
    const resize = (): void => setSize(rowHeight());
    window.addEventListener("resize", resize);
    return () => window.removeEventListener("resize", resize);
  }, []);

  // The cursor stays in view, and has the focus if the table had it.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || props.cursor < 0 || !focusWanted.current) return;
    const to = scrollToRow(geometry, element.scrollTop, props.cursor);
    if (to !== undefined) {
      element.scrollTop = to;
      setTop(to);
      return;
    }
    focusWanted.current = false;
    (element.querySelector('[tabindex="0"]') as HTMLElement | null)?.focus({ preventScroll: true });
  });

  const move = (to: number): void => {
    const index = Math.min(Math.max(to, 0), props.rowCount - 1);
    focusWanted.current = true;
    props.onCursor(index, props.row(index));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = Math.max(props.cursor, 0);
    const page = Math.max(Math.floor(viewHeight / size) - 1, 1);
    const steps: Record<string, number> = {
      ArrowDown: props.cursor + 1,
      j: props.cursor + 1,
      ArrowUp: at - 1,
      k: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: props.rowCount - 1,
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (props.onKey?.(event, props.cursor, props.row(props.cursor))) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    const target = steps[event.key];
    const row = props.row(props.cursor);
    if (target !== undefined && !(event.shiftKey && event.key.length > 1)) move(target);
    else if (event.key === "Enter" && row && !(event.target as HTMLElement).closest("a,button,input")) {
      props.onOpen?.(props.cursor, row);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const least = props.columns.reduce((sum, c) => sum + Number(/\d+/.exec(c.width)?.[0] ?? 0), 32);
  const template = props.columns.map((c) => c.width).join(" ");
  const focusRow = props.cursor >= 0 ? props.cursor : 0;
  return (
    <div
      class="grid"
      role="grid"
      aria-label={props.label}
      aria-rowcount={props.rowCount + 1}
      aria-colcount={props.columns.length}
      style={{ "--grid-columns": template }}
      onKeyDown={onKeyDown}
    >
      <div class="inner" role="presentation" style={{ minWidth: `${least}px` }}>
        <div class="grid-head" role="row" aria-rowindex={1}>
          {props.columns.map((c) => (
            <div role="columnheader" class={c.class}>
              {c.head}
            </div>
          ))}
        </div>
        <div
          class="scroller"
          role="presentation"
          ref={scroller}
          style={{ height: `${viewHeight}px` }}
          onScroll={(e) => {
            setTop(e.currentTarget.scrollTop);
            clearTimeout(scrolled.current);
            const first = rowWindow(geometry, e.currentTarget.scrollTop, 0).first;
            scrolled.current = setTimeout(() => props.onScrollRow?.(first), 250);
          }}
        >
          <div class="content" role="presentation" style={{ height: `${contentHeight(geometry)}px` }}>
            {Array.from({ length: shown.count }, (_, i) => {
              const index = shown.first + i;
              const row = props.row(index);
              return (
                <div
                  key={row ? props.rowKey(row) : `row ${index}`}
                  class={row ? "grid-row" : "grid-row loading"}
                  role="row"
                  aria-rowindex={index + 2}
                  aria-selected={
                    index === props.cursor || (row !== undefined && props.isSelected?.(row)) ? "true" : "false"
                  }
                  tabIndex={index === focusRow ? 0 : -1}
                  style={{ transform: `translateY(${shown.offset + i * size}px)` }}
                  onClick={(e) => {
                    if ((e.target as HTMLElement).closest("a,button,input,label")) return;
                    props.onCursor(index, row);
                  }}
                  onDblClick={() => row && props.onOpen?.(index, row)}
                >
                  {props.columns.map((c) => (
                    <div role="gridcell" class={c.class}>
                      {row ? c.cell(row, index) : "…"}
                    </div>
                  ))}
                </div>
              );
            })}
          </div>
        </div>
      </div>
    </div>
  );
}
