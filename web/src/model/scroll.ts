// A list that is taller than a browser can lay out: up to kHeightMax the scroll position counts pixels; beyond it,
// it counts parts of the whole, and rows are placed around where that leads.

export const kHeightMax = 8_000_000; // Pixels. Firefox ends at 17.8 million, others later.

export interface ScrollGeometry {
  rowHeight: number;
  rowCount: number;
  viewHeight: number;
}

export interface RowWindow {
  first: number;
  count: number;
  offset: number; // Pixels from the top of the scrolled content to the first row of the window.
}

export function contentHeight(g: ScrollGeometry): number {
  return Math.min(g.rowCount * g.rowHeight, kHeightMax);
}

// The virtual pixel at the top of the view.
function virtualTop(g: ScrollGeometry, scrollTop: number): number {
  const real = contentHeight(g) - g.viewHeight;
  const virtual = g.rowCount * g.rowHeight - g.viewHeight;
  if (real <= 0 || virtual <= 0) return 0;
  return Math.min(Math.max(scrollTop / real, 0), 1) * virtual;
}

export function rowWindow(g: ScrollGeometry, scrollTop: number, overscan = 6): RowWindow {
  const top = virtualTop(g, scrollTop);
  const first = Math.max(Math.floor(top / g.rowHeight) - overscan, 0);
  const rows = Math.ceil(g.viewHeight / g.rowHeight) + 2 * overscan + 1;
  const count = Math.max(Math.min(rows, g.rowCount - first), 0);
  return { first, count, offset: scrollTop - (top - first * g.rowHeight) };
}

// Where to scroll so that a row is in view; undefined when it is already.
export function scrollToRow(g: ScrollGeometry, scrollTop: number, row: number): number | undefined {
  const top = virtualTop(g, scrollTop);
  const at = row * g.rowHeight;
  let wanted: number | undefined;
  if (at < top) wanted = at;
  else if (at + g.rowHeight > top + g.viewHeight) wanted = at + g.rowHeight - g.viewHeight;
  if (wanted === undefined) return undefined;
  const virtual = g.rowCount * g.rowHeight - g.viewHeight;
  const real = contentHeight(g) - g.viewHeight;
  return virtual <= 0 ? 0 : (wanted / virtual) * real;
}
