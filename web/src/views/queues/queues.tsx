// All queues. Dead-letter queues that hold something come first.

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type MetricsAnswer, queryMetrics } from "../../api/additions";
import { countText, rateText } from "../../model/format";
import { links } from "../../model/routes";
import { durationText } from "../../model/time";
import { useCalm } from "../../state/calm";
import { now } from "../../state/clock";
import { columnsOf, setColumns } from "../../state/prefs";
import { navigate, replaceQuery, route } from "../../state/router";
import { deadLetterQueues, type LiveQueue, loaded, messagesIn, queues } from "../../state/store";
import { type Column, DataTable } from "../../ui/data_table";
import { Menu } from "../../ui/overlay";
import { EmptyState, Others, PageHead, Skeleton } from "../../ui/parts";
import { Sparkline } from "../../ui/small_charts";
import { FirstSteps } from "../inbox/first_steps";

const sparks = signal<ReadonlyMap<string, (number | null)[]>>(new Map());

// One request for the sparklines of what is in view.
async function loadSparks(names: readonly string[]): Promise<void> {
  const to = Math.floor(now.peek() / 1000);
  const wanted = names.slice(0, 60);
  if (wanted.length === 0) return;
  const answer: MetricsAnswer = await queryMetrics({
    from: to - 3600,
    to,
    step: 60,
    series: wanted.map((queue) => ({ queue, metric: "visible" })),
  });
  const next = new Map(sparks.value);
  for (const [i, s] of answer.series.entries()) next.set(wanted[i] ?? "", s?.values ?? []);
  sparks.value = next;
}

function columnsFor(dead: ReadonlySet<string>): Column<LiveQueue>[] {
  const number = (n: number | undefined): JSX.Element | string => (n ? countText(n) : <span class="faint">0</span>);
  return [
    {
      name: "name",
      head: "Queue",
      width: "minmax(150px, 2fr)",
      cell: (q) => (
        <a href={links.queue(q.name)}>
          <Others text={q.name} />
        </a>
      ),
    },
    {
      name: "kind",
      head: "Kind",
      width: "100px",
      cell: (q) => <span class="muted">{dead.has(q.name) ? "dead letters" : q.fifo ? "FIFO" : "standard"}</span>,
    },
    {
      name: "visible",
      head: "Visible",
      width: "76px",
      class: "num",
      cell: (q) =>
        dead.has(q.name) && (q.visible ?? 0) > 0 ? (
          <b class="c-dead">{countText(q.visible ?? 0)}</b>
        ) : (
          number(q.visible)
        ),
    },
    { name: "inFlight", head: "In flight", width: "76px", class: "num", cell: (q) => number(q.inFlight) },
    { name: "delayed", head: "Delayed", width: "72px", class: "num", cell: (q) => number(q.delayed) },
    {
      name: "oldest",
      head: "Oldest",
      width: "76px",
      class: "num",
      cell: (q) => (messagesIn(q) > 0 ? durationText((q.oldestAgeSeconds ?? 0) * 1000) : <span class="faint">–</span>),
    },
    { name: "in", head: "In/s", width: "56px", class: "num", cell: (q) => rateText(q.rates.in) },
    { name: "out", head: "Out/s", width: "60px", class: "num", cell: (q) => rateText(q.rates.out) },
    {
      name: "dead",
      head: "Dead/s",
      width: "64px",
      class: "num",
      cell: (q) => (q.rates.dead > 0 ? <b class="c-dead">{rateText(q.rates.dead)}</b> : "–"),
    },
    {
      name: "hour",
      head: "1 h",
      width: "104px",
      cell: (q) => {
        const values = sparks.value.get(q.name);
        return values?.length ? (
          <Sparkline values={values} label="Visible messages, last hour" dead={dead.has(q.name)} />
        ) : null;
      },
    },
    {
      name: "dlq",
      head: "Failures go to",
      width: "minmax(110px, 1.2fr)",
      cell: (q) =>
        q.deadLetterQueue ? (
          <a href={links.queue(q.deadLetterQueue)}>
            <Others text={q.deadLetterQueue} />
          </a>
        ) : null,
    },
  ];
}

const kUsual = ["name", "kind", "visible", "inFlight", "delayed", "oldest", "in", "out", "dead", "hour", "dlq"];

export function Queues(): JSX.Element {
  const filter = route.value.query.get("q") ?? "";
  const dead = new Set(deadLetterQueues.value.map((q) => q.name));
  const fits = (q: LiveQueue): boolean => q.name.toLowerCase().includes(filter.toLowerCase());
  const rank = (q: LiveQueue): number => (dead.has(q.name) && messagesIn(q) > 0 ? 0 : messagesIn(q) > 0 ? 1 : 2);
  const wanted = [...queues.value.values()]
    .filter(fits)
    .sort(
      (a, b) => rank(a) - rank(b) || (rank(a) < 2 ? messagesIn(b) - messagesIn(a) : 0) || a.name.localeCompare(b.name),
    );
  const calm = useCalm(wanted, (q) => q.name);
  const [cursor, setCursor] = useState(-1);
  const [view, setView] = useState<[number, number]>([0, 40]);
  const all = columnsFor(dead);
  const chosen = columnsOf("queues") ?? kUsual;
  const columns = all.filter((c) => chosen.includes(c.name) || c.name === "name");
  const names = calm.rows.slice(view[0], view[0] + view[1]).map((q) => q.name);
  const minute = Math.floor(now.value / 60_000);
  useEffect(() => {
    if (loaded.value && chosen.includes("hour")) void loadSparks(names).catch(() => undefined);
  }, [names.join(" "), minute, loaded.value]);

  return (
    <div class="page">
      <PageHead title="Queues">
        <div class="facts">
          <span>
            <b>{countText(queues.value.size)}</b> queues
          </span>
          <span>
            <b>{countText([...queues.value.values()].reduce((n, q) => n + (q.visible ?? 0), 0))}</b> visible
          </span>
          <span>
            <b>{countText([...queues.value.values()].reduce((n, q) => n + (q.inFlight ?? 0), 0))}</b> in flight
          </span>
        </div>
      </PageHead>
      <section class="section" aria-label="Queues" {...calm.handlers}>
        <div class="selection-bar">
          <input
            type="search"
            class="sentence"
            placeholder="Filter by name"
            aria-label="Filter by name"
            value={filter}
            onInput={(e) => replaceQuery({ q: e.currentTarget.value })}
          />
          <Menu button="Columns" label="Choose columns" class="small plain">
            {all.slice(1).map((c) => (
              <label>
                {c.head}
                <input
                  type="checkbox"
                  checked={chosen.includes(c.name)}
                  onChange={(e) =>
                    setColumns(
                      "queues",
                      kUsual.filter((n) => (n === c.name ? e.currentTarget.checked : chosen.includes(n))),
                    )
                  }
                />
              </label>
            ))}
          </Menu>
        </div>
        {calm.waiting > 0 && (
          <div class="calm-bar">
            <button type="button" class="small plain" onClick={calm.show}>
              {countText(calm.waiting)} new · show
            </button>
          </div>
        )}
        {!loaded.value && <Skeleton rows={8} />}
        {loaded.value && queues.value.size === 0 && <FirstSteps />}
        {loaded.value && queues.value.size > 0 && calm.rows.length === 0 && (
          <EmptyState headline="No queue fits.">
            <button type="button" onClick={() => replaceQuery({ q: undefined })}>
              Clear
            </button>
          </EmptyState>
        )}
        {calm.rows.length > 0 && (
          <DataTable
            label="Queues"
            columns={columns}
            rowCount={calm.rows.length}
            row={(i) => calm.rows[i]}
            rowKey={(q) => q.name}
            cursor={cursor}
            height={Math.max(window.innerHeight - 260, 240)}
            want={(first, count) => setView([first, count])}
            onCursor={(index) => setCursor(index)}
            onOpen={(_, q) => navigate(links.queue(q.name))}
          />
        )}
      </section>
    </div>
  );
}
