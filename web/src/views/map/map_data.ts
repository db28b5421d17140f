// A topology as nodes and edges.

import type { Finding, Topology } from "../../api/additions";
import { foldByPrefix, type MapEdge, type MapNode } from "../../model/map_layout";
import type { LiveQueue } from "../../state/store";

const kMost = 60;

export interface MapData {
  nodes: MapNode[];
  edges: MapEdge[];
  folded: Map<string, string[]>; // Prefix → queues that are not drawn by themselves.
}

export function mapData(
  topology: Topology,
  live: ReadonlyMap<string, LiveQueue>,
  findings: readonly Finding[],
): MapData {
  const dead = new Set(topology.queues.map((q) => q.deadLetterQueue).filter((n) => n !== undefined));
  const troubled = new Set(findings.map((f) => f.queue));
  const isBusy = (name: string): boolean => {
    const q = live.get(name);
    if (!q) return false;
    const holds = dead.has(name) && (q.visible ?? 0) + (q.inFlight ?? 0) > 0;
    return q.rates.in > 0 || q.rates.out > 0 || holds || troubled.has(name);
  };
  const tooMany = topology.queues.length > kMost;
  const shown = topology.queues.filter((q) => !tooMany || isBusy(q.name));
  const names = new Set(shown.map((q) => q.name));
  const folded = foldByPrefix(topology.queues.filter((q) => !names.has(q.name)).map((q) => q.name));
  const nodes: MapNode[] = shown.map((q) => ({
    id: `q ${q.name}`,
    kind: dead.has(q.name) ? "dlq" : "queue",
    label: q.name,
  }));
  const edges: MapEdge[] = [];
  for (const [prefix, list] of folded) {
    nodes.push({ id: `f ${prefix}`, kind: "queue", label: `${prefix}… ${list.length}` });
  }
  for (const q of shown) {
    const row = live.get(q.name);
    for (const producer of q.producers ?? []) {
      nodes.push({ id: `p ${producer}`, kind: "producer", label: producer });
      edges.push({ from: `p ${producer}`, to: `q ${q.name}`, rate: row?.rates.in ?? 0 });
    }
    if (q.deadLetterQueue && names.has(q.deadLetterQueue)) {
      const through = topology.handlers.find((h) => h.queue === q.name);
      edges.push({
        from: through ? `fn ${through.function}` : `q ${q.name}`,
        to: `q ${q.deadLetterQueue}`,
        rate: row?.rates.dead ?? 0,
      });
    }
    if (q.archive) {
      nodes.push({ id: `a ${q.archive}`, kind: "archive", label: q.archive });
      edges.push({ from: `q ${q.name}`, to: `a ${q.archive}`, rate: 0 });
    }
  }
  for (const h of topology.handlers.filter((x) => names.has(x.queue))) {
    nodes.push({ id: `fn ${h.function}`, kind: "function", label: h.function });
    edges.push({ from: `q ${h.queue}`, to: `fn ${h.function}`, rate: live.get(h.queue)?.rates.out ?? 0 });
  }
  const unique = [...new Map(nodes.map((n) => [n.id, n])).values()];
  return { nodes: unique, edges, folded };
}
