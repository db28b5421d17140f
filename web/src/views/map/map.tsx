// The whole topology, drawn: what feeds what, and where failures go.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { examine, type Finding, showTopology } from "../../api/additions";
import { countText, rateText } from "../../model/format";
import { layoutMap, type PlacedEdge, type PlacedNode } from "../../model/map_layout";
import { links } from "../../model/routes";
import { useResource } from "../../state/resource";
import { navigate } from "../../state/router";
import { deadLetterQueues, loaded, messagesIn, queues, runningJobs } from "../../state/store";
import { EmptyState, ErrorNote, Others, PageHead, Skeleton } from "../../ui/parts";
import { FirstSteps } from "../inbox/first_steps";
import { mapData } from "./map_data";

const kHeads: Record<string, string> = {
  producer: "Producers",
  queue: "Queues",
  function: "Functions",
  dlq: "Dead letters",
  archive: "Archives",
};

const nameOf = (node: PlacedNode): string => node.id.slice(node.id.indexOf(" ") + 1);

function linkOf(node: PlacedNode): string {
  if (node.id.startsWith("fn ")) return links.function(nameOf(node));
  if (node.id.startsWith("f ")) return links.queues({ q: nameOf(node) });
  if (node.kind === "archive") return links.archive(node.label.split("/")[0] ?? "");
  if (node.kind === "producer") return links.find(nameOf(node));
  return links.queue(nameOf(node));
}

function detailOf(node: PlacedNode): string {
  const row = queues.value.get(nameOf(node));
  if (!row || (node.kind !== "queue" && node.kind !== "dlq")) return "";
  const rates =
    row.rates.in > 0 || row.rates.out > 0 ? ` · ${rateText(row.rates.in)} in, ${rateText(row.rates.out)} out` : "";
  return `${countText(messagesIn(row))} messages${rates}`;
}

const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

function Node({ node, findings }: { node: PlacedNode; findings: readonly Finding[] }): JSX.Element {
  const row = queues.value.get(nameOf(node));
  const full = node.kind === "dlq" && row !== undefined && messagesIn(row) > 0;
  const own = findings.filter((f) => f.queue === nameOf(node) && (node.kind === "queue" || node.kind === "dlq"));
  const detail = detailOf(node);
  return (
    <a
      href={linkOf(node)}
      class={`node ${node.kind}${full ? " full" : ""}`}
      onClick={(e) => {
        e.preventDefault();
        navigate(linkOf(node));
      }}
    >
      <rect x={node.x} y={node.y} width={node.width} height={node.height} rx={6} />
      <text x={node.x + 10} y={detail ? node.y + 19 : node.y + 27}>
        {cut(node.label, 24)}
      </text>
      {detail && (
        <text class="small" x={node.x + 10} y={node.y + 35}>
          {cut(detail, 30)}
        </text>
      )}
      {own.length > 0 && <desc>{own.map((f) => f.what).join(", ")}</desc>}
      {own.length > 0 && (
        <circle
          class={own.some((f) => f.severity === "problem") ? "marker problem" : "marker"}
          cx={node.x + node.width - 10}
          cy={node.y + 10}
          r={4}
        />
      )}
    </a>
  );
}

// Red where dead letters wait; a way that nothing has gone is a hairline like any other.
function edgeClass(edge: PlacedEdge): string {
  const target = queues.value.get(edge.to.slice(2));
  const isDeadLetterQueue = deadLetterQueues.value.some((q) => q.name === target?.name);
  const dead = target !== undefined && isDeadLetterQueue && messagesIn(target) > 0 && !edge.back;
  return `edge${edge.back ? " back" : ""}${dead ? " dead" : ""}`;
}

export function MapView(): JSX.Element {
  const count = queues.value.size;
  const read = useResource("topology", (signal) => showTopology(signal), count);
  const doctor = useResource("doctor", () => examine(), count);
  const findings = doctor.value?.findings ?? [];
  const data = useMemo(
    () => (read.value ? mapData(read.value, queues.value, findings) : undefined),
    [read.value, queues.value, findings],
  );
  const backs = runningJobs.value.flatMap((j) =>
    (queues.value.get(j.queue)?.sources ?? []).map((s) => ({
      from: `q ${j.queue}`,
      to: `q ${s}`,
      rate: 0,
      back: true,
    })),
  );
  const drawing = data ? layoutMap(data.nodes, [...data.edges, ...backs]) : undefined;
  const columns = drawing ? [...new Map(drawing.nodes.map((n) => [n.x, n.kind]))] : [];
  const top = 24;
  return (
    <div class="page">
      <PageHead title="Map">
        <div class="facts">
          <span>
            <b>{countText(count)}</b> queues
          </span>
          {data && data.folded.size > 0 && <span>quiet queues are folded by the beginning of their names</span>}
          {findings.length > 0 && (
            <span>
              <a href={links.doctor()}>{countText(findings.length)}</a> findings
            </span>
          )}
        </div>
      </PageHead>
      <section class="section" aria-label="Map">
        {read.error && <ErrorNote error={read.error} again={read.again} />}
        {!drawing && !read.error && <Skeleton rows={8} />}
        {loaded.value && count === 0 && <FirstSteps />}
        {drawing && drawing.nodes.length === 0 && count > 0 && <EmptyState headline="Nothing to draw." />}
        {drawing && drawing.nodes.length > 0 && (
          <div class="map-view" tabIndex={0} role="region" aria-label="Drawing of all queues and functions">
            <svg width={drawing.width} height={drawing.height + top} role="group" aria-label="Map">
              {columns.map(([x, kind]) => (
                <text class="column" x={x} y={16}>
                  {kHeads[kind]}
                </text>
              ))}
              <g transform={`translate(0 ${top - 8})`}>
                {drawing.edges.map((e) => (
                  <path class={edgeClass(e)} d={e.path} stroke-width={e.width} />
                ))}
                {drawing.nodes.map((node) => (
                  <Node key={node.id} node={node} findings={findings} />
                ))}
              </g>
            </svg>
          </div>
        )}
      </section>
      {read.value && (
        <details class="why">
          <summary>The same as a list</summary>
          <ul class="linked">
            {read.value.queues.map((q) => (
              <li>
                <a href={links.queue(q.name)}>
                  <Others text={q.name} />
                </a>
                {read.value?.handlers
                  .filter((h) => h.queue === q.name)
                  .map((h) => ` feeds ${h.function}`)
                  .join(",")}
                {q.deadLetterQueue && `; failures go to ${q.deadLetterQueue}`}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
