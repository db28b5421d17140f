// The drawing of a topology: a column for each kind, order within columns by two barycentre sweeps, orthogonal
// edges with rounded corners, edges that lead back dashed below everything.

export type MapKind = "producer" | "queue" | "function" | "dlq" | "archive";

export interface MapNode {
  id: string;
  kind: MapKind;
  label: string;
}

export interface MapEdge {
  from: string;
  to: string;
  rate: number; // Messages a second; decides the width.
  back?: boolean; // A redrive, say.
}

export interface PlacedNode extends MapNode {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface PlacedEdge extends MapEdge {
  path: string; // For <path d>.
  width: number;
}

export interface MapDrawing {
  nodes: PlacedNode[]; // In reading order: column by column, from top to bottom.
  edges: PlacedEdge[];
  width: number;
  height: number;
}

const kColumns: readonly MapKind[] = ["producer", "queue", "function", "dlq", "archive"];
const kNodeWidth = 176;
const kNodeHeight = 44;
const kGapX = 88;
const kGapY = 16;
const kMargin = 16;
const kRadius = 6;

export function layoutMap(nodes: readonly MapNode[], edges: readonly MapEdge[]): MapDrawing {
  const columns = kColumns.map((kind) => nodes.filter((n) => n.kind === kind)).filter((c) => c.length > 0);
  const drawn = edges.filter((e) => nodes.some((n) => n.id === e.from) && nodes.some((n) => n.id === e.to));
  sweep(columns, drawn);
  const placed = placeColumns(columns);
  const byId = new Map(placed.map((n) => [n.id, n]));
  const bottom = Math.max(0, ...placed.map((n) => n.y + n.height));
  const placedEdges = placeEdges(drawn, byId, bottom);
  const backs = placedEdges.filter((e) => e.back).length;
  return {
    nodes: placed,
    edges: placedEdges,
    width: columns.length * (kNodeWidth + kGapX) - kGapX + 2 * kMargin,
    height: bottom + kMargin + (backs > 0 ? 12 + backs * 6 : 0),
  };
}

// Two sweeps, right then left: a node moves to the mean position of its neighbours in the column before.
function sweep(columns: MapNode[][], edges: readonly MapEdge[]): void {
  const neighbours = new Map<string, string[]>();
  const add = (a: string, b: string): void => {
    const list = neighbours.get(a) ?? [];
    list.push(b);
    neighbours.set(a, list);
  };
  for (const edge of edges) {
    if (edge.back) continue;
    add(edge.from, edge.to);
    add(edge.to, edge.from);
  }
  for (const [i, column] of columns.entries()) {
    columns[i] = column.toSorted((a, b) => Number(!neighbours.has(a.id)) - Number(!neighbours.has(b.id)));
  }
  for (let i = 1; i < columns.length; i++) order(columns, i, columns.slice(0, i), neighbours);
  for (let i = columns.length - 2; i >= 0; i--) order(columns, i, columns.slice(i + 1), neighbours);
}

// Edges may skip columns, so neighbours count wherever they are. Nodes without any stay at the end.
function order(
  columns: MapNode[][],
  index: number,
  fixed: readonly MapNode[][],
  neighbours: Map<string, string[]>,
): void {
  const column = columns[index] ?? [];
  const positions = new Map(fixed.flatMap((nodes) => nodes.map((n, i) => [n.id, i] as const)));
  const centre = (node: MapNode, own: number): number => {
    if (!neighbours.has(node.id)) return Number.POSITIVE_INFINITY;
    const near = (neighbours.get(node.id) ?? []).map((id) => positions.get(id)).filter((p) => p !== undefined);
    return near.length === 0 ? own : near.reduce((a, b) => a + b, 0) / near.length;
  };
  const keyed = column.map((node, i) => ({ node, key: centre(node, i), i }));
  keyed.sort((a, b) => (a.key === b.key ? a.i - b.i : a.key - b.key));
  columns[index] = keyed.map((k) => k.node);
}

function placeColumns(columns: readonly MapNode[][]): PlacedNode[] {
  const tallest = Math.max(0, ...columns.map((c) => c.length));
  const full = tallest * (kNodeHeight + kGapY) - kGapY;
  return columns.flatMap((column, c) => {
    const height = column.length * (kNodeHeight + kGapY) - kGapY;
    const top = kMargin + Math.min((full - height) / 2, 96);
    return column.map((node, r) => ({
      ...node,
      x: kMargin + c * (kNodeWidth + kGapX),
      y: top + r * (kNodeHeight + kGapY),
      width: kNodeWidth,
      height: kNodeHeight,
    }));
  });
}

export function edgeWidth(rate: number): number {
  return rate <= 0 ? 1 : Math.min(1.5 + Math.log10(1 + rate) * 1.5, 6);
}

function placeEdges(edges: readonly MapEdge[], nodes: Map<string, PlacedNode>, bottom: number): PlacedEdge[] {
  const lanes = new Map<number, number>(); // Vertical lanes in use right of a column.
  let backs = 0;
  return edges.flatMap((edge) => {
    const from = nodes.get(edge.from);
    const to = nodes.get(edge.to);
    if (!from || !to) return [];
    const back = edge.back || to.x <= from.x;
    const lane = lanes.get(from.x) ?? 0;
    if (!back) lanes.set(from.x, lane + 1);
    const path = back ? backPath(from, to, bottom + 12 + 6 * backs++) : forwardPath(from, to, lane);
    return [{ ...edge, back, path, width: edgeWidth(edge.rate) }];
  });
}

function forwardPath(from: PlacedNode, to: PlacedNode, lane: number): string {
  const x1 = from.x + from.width;
  const y1 = from.y + from.height / 2;
  const x2 = to.x;
  const y2 = to.y + to.height / 2;
  if (Math.abs(y1 - y2) < 1) return `M${x1} ${y1}H${x2}`;
  const middle = x1 + 16 + ((lane * 8) % (kGapX - 32));
  const r = Math.min(kRadius, Math.abs(y2 - y1) / 2);
  const down = y2 > y1 ? 1 : -1;
  return (
    `M${x1} ${y1}H${middle - r}Q${middle} ${y1} ${middle} ${y1 + down * r}` +
    `V${y2 - down * r}Q${middle} ${y2} ${middle + r} ${y2}H${x2}`
  );
}

function backPath(from: PlacedNode, to: PlacedNode, below: number): string {
  const x1 = from.x + from.width / 2;
  const y1 = from.y + from.height;
  const x2 = to.x + to.width / 2;
  const y2 = to.y + to.height;
  const left = x2 < x1 ? -1 : 1;
  const r = kRadius;
  return (
    `M${x1} ${y1}V${below - r}Q${x1} ${below} ${x1 + left * r} ${below}` +
    `H${x2 - left * r}Q${x2} ${below} ${x2} ${below - r}V${y2}`
  );
}

// Names of a large map by prefix, so that quiet queues take one node: "shop-eu-orders" → "shop".
export function foldByPrefix(names: readonly string[]): Map<string, string[]> {
  const folded = new Map<string, string[]>();
  for (const name of names) {
    const prefix = /^[^-_.]+/.exec(name)?.[0] ?? name;
    const list = folded.get(prefix) ?? [];
    list.push(name);
    folded.set(prefix, list);
  }
  return folded;
}
