// Dead letters of all queues, one row for each cause.

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import type { GroupRow } from "../../api/additions";
import { markGroup } from "../../api/manage";
import { consumerText, countText, nounText } from "../../model/format";
import { links } from "../../model/routes";
import { useActions } from "../../state/actions";
import { useCalm } from "../../state/calm";
import { now } from "../../state/clock";
import { asApiError } from "../../state/resource";
import { navigate, replaceQuery, route } from "../../state/router";
import { mayOperate, whyNot } from "../../state/session";
import { deadLetterCount, groupKey, groups, loaded, noteGroup, queues, runningJobs } from "../../state/store";
import { EmptyState, ErrorNote, Others, PageHead, Skeleton, TimeText } from "../../ui/parts";
import { useRovingList } from "../../ui/roving";
import { TrendBars } from "../../ui/small_charts";
import { StatusBadge } from "../../ui/status";
import { openRedrive } from "../redrive/redrive_state";
import { FirstSteps } from "./first_steps";
import { facets, fitting, type InboxFilter, inboxOrder, jobOf } from "./inbox_model";

const selected = signal<ReadonlySet<string>>(new Set());
const problem = signal<ReturnType<typeof asApiError> | undefined>(undefined);

function filterOf(): InboxFilter {
  const get = (name: string): string => route.value.query.get(name) ?? "";
  return { status: get("status"), queue: get("queue"), source: get("source"), consumer: get("consumer"), q: get("q") };
}

async function mark(rows: readonly GroupRow[], status: "known" | "ignored" | "resolved"): Promise<void> {
  problem.value = undefined;
  try {
    for (const row of rows) noteGroup({ ...(await markGroup(row.queue, row.id, { status })), queue: row.queue });
    selected.value = new Set();
  } catch (error) {
    problem.value = asApiError(error);
  }
}

function FacetList({
  name,
  title,
  filter,
  items,
}: {
  name: "status" | "queue" | "source" | "consumer";
  title: string;
  filter: InboxFilter;
  items: { value: string; count: number }[];
}): JSX.Element | null {
  if (items.length === 0 || (items.length === 1 && !filter[name] && name !== "status")) return null;
  return (
    <div class="facet">
      <h2>{title}</h2>
      <ul>
        {items.slice(0, 12).map((item) => {
          const on = filter[name] === item.value;
          return (
            <li>
              <button
                type="button"
                aria-pressed={on}
                onClick={() => replaceQuery({ [name]: on ? undefined : item.value })}
              >
                <span class="name">
                  <Others text={name === "consumer" ? consumerText(item.value) : item.value} />
                </span>
                <span class="n">{countText(item.count)}</span>
              </button>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function causeOf(group: GroupRow): string | undefined {
  return group.setsApart?.[0]?.sentence;
}

function InboxRow({
  group,
  index,
  focusable,
  ticked,
}: {
  group: GroupRow;
  index: number;
  focusable: boolean;
  ticked: boolean;
}): JSX.Element {
  const running = jobOf(group, new Map(runningJobs.value.map((j) => [j.id, j])));
  const cause = causeOf(group);
  const key = groupKey(group.queue, group.id);
  const expires = group.oldestExpiresAt ? Date.parse(group.oldestExpiresAt) - now.value : undefined;
  return (
    <li class={ticked ? "inbox-row ticked" : "inbox-row"} data-index={index}>
      {mayOperate.value && (
        <input
          type="checkbox"
          aria-label={`Select ${group.title}`}
          checked={ticked}
          tabIndex={-1}
          onChange={(e) => toggle(key, e.currentTarget.checked)}
        />
      )}
      <a class="row-link" href={links.group(group.queue, group.id)} tabIndex={focusable ? 0 : -1}>
        <span class="what">
          <span class="title">
            <StatusBadge kind="group" state={group.status} />
            <Others text={group.title} />
          </span>
          <span class="cause">
            {cause ? (
              <Others text={cause} />
            ) : (
              <span class="faint">Nothing sets them apart from what was processed.</span>
            )}
          </span>
        </span>
        <span class="where">
          <Others text={group.queue} />
          <span class="faint">
            {group.escalating && <span class="escalating">escalating · </span>}
            last <TimeText at={group.lastSeen} />
            {expires !== undefined && (
              <span class={expires < 86_400_000 ? "soon" : ""}>
                {" "}
                · expires <TimeText at={group.oldestExpiresAt} />
              </span>
            )}
          </span>
        </span>
        <span class="trend-cell">
          <TrendBars values={group.hourly ?? []} width={72} />
        </span>
        <span class="count">
          <b>{countText(group.count)}</b>
          {running ? <StatusBadge kind="job" state={running.status} /> : <span class="faint">waiting</span>}
        </span>
      </a>
    </li>
  );
}

function toggle(key: string, on: boolean): void {
  const next = new Set(selected.value);
  if (on) next.add(key);
  else next.delete(key);
  selected.value = next;
}

function InboxSelection({ rows }: { rows: GroupRow[] }): JSX.Element | null {
  if (rows.length === 0) return null;
  const [first] = rows;
  const messages = rows.reduce((n, g) => n + g.count, 0);
  const oneQueue = first !== undefined && rows.every((r) => r.queue === first.queue);
  const refusal = first ? whyNot(first.queue) : undefined;
  return (
    <div class="selection-bar">
      <span class="sentence">
        <b>{nounText(rows.length, "group")}</b> · {nounText(messages, "message")}
        {!oneQueue && <span class="muted"> of several queues: a job takes from one</span>}
      </span>
      <button
        type="button"
        disabled={!oneQueue || refusal !== undefined}
        title={refusal}
        onClick={() => first && openRedrive({ queue: first.queue, groups: rows.map((r) => r.id) }, messages)}
      >
        Redrive {countText(messages)}…
      </button>
      <button type="button" class="plain" onClick={() => void mark(rows, "known")}>
        Mark known
      </button>
      <button type="button" class="plain" onClick={() => void mark(rows, "ignored")}>
        Ignore
      </button>
      <button type="button" class="plain" onClick={() => (selected.value = new Set())}>
        Clear
      </button>
    </div>
  );
}

export function Inbox(): JSX.Element {
  const filter = filterOf();
  const all = [...groups.value.values()].filter((g) => g.count > 0 || g.status === "resolved");
  const running = new Map(runningJobs.value.map((j) => [j.id, j]));
  const wanted = inboxOrder(fitting(all, filter), running);
  const calm = useCalm(wanted, (g) => groupKey(g.queue, g.id));
  const list = useRovingList(calm.rows.length);
  const choices = facets(all, filter);
  const ticked = calm.rows.filter((g) => selected.value.has(groupKey(g.queue, g.id)));
  const at = calm.rows[list.cursor];

  useActions([
    ...(at ? [{ id: "open", label: "Open the group", run: () => navigate(links.group(at.queue, at.id)) }] : []),
    ...(at && mayOperate.value
      ? [
          {
            id: "redrive",
            label: `Redrive ${at.count}…`,
            key: "r",
            run: () => openRedrive({ queue: at.queue, group: at.id, groupTitle: at.title }, at.count),
          },
          { id: "known", label: "Mark the group known", key: "k", run: () => void mark([at], "known") },
          { id: "ignore", label: "Ignore the group", key: "i", run: () => void mark([at], "ignored") },
          {
            id: "select",
            label: "Select the group",
            key: "x",
            run: () => toggle(groupKey(at.queue, at.id), !selected.value.has(groupKey(at.queue, at.id))),
          },
        ]
      : []),
  ]);

  const filtered = Object.values(filter).some((v) => v !== "");
  const lastDead = [...groups.value.values()].map((g) => g).sort((a, b) => b.lastSeen.localeCompare(a.lastSeen))[0];
  return (
    <div class="page">
      <PageHead title="Dead letters">
        <div class="facts">
          <span class={deadLetterCount.value > 0 ? "dead" : ""}>
            <b>{countText(deadLetterCount.value)}</b> waiting
          </span>
          <span>
            <b>{countText(all.filter((g) => g.status === "new" && g.count > 0).length)}</b> new causes
          </span>
          <span>
            <b>{countText(all.filter((g) => g.status === "regressed" && g.count > 0).length)}</b> regressed
          </span>
        </div>
      </PageHead>
      <div class="columns facets">
        <aside class="facets-list" aria-label="Narrow">
          <input
            type="search"
            placeholder="Title, queue or note"
            aria-label="Search groups"
            value={filter.q}
            onInput={(e) => replaceQuery({ q: e.currentTarget.value })}
          />
          <FacetList name="status" title="State" filter={filter} items={choices.status} />
          <FacetList name="queue" title="Queue" filter={filter} items={choices.queue} />
          <FacetList name="source" title="Source" filter={filter} items={choices.source} />
          <FacetList name="consumer" title="Consumer" filter={filter} items={choices.consumer} />
          {filtered && (
            <button type="button" class="plain" onClick={() => navigate(links.inbox())}>
              Clear all
            </button>
          )}
        </aside>
        <section class="section" aria-label="Groups" {...calm.handlers}>
          <InboxSelection rows={ticked} />
          {problem.value && <ErrorNote error={problem.value} />}
          {calm.waiting > 0 && (
            <div class="calm-bar">
              <button type="button" class="small plain" onClick={calm.show}>
                {countText(calm.waiting)} new · show
              </button>
            </div>
          )}
          {!loaded.value && <Skeleton rows={6} />}
          {loaded.value && calm.rows.length === 0 && <InboxEmpty filtered={filtered} last={lastDead} />}
          <ul
            class="inbox"
            ref={list.ref}
            onKeyDown={list.onKeyDown}
            onFocusIn={list.onFocusIn}
            aria-label="Groups of dead letters"
          >
            {calm.rows.map((group, i) => (
              <InboxRow
                key={groupKey(group.queue, group.id)}
                group={group}
                index={i}
                focusable={i === Math.max(list.cursor, 0)}
                ticked={selected.value.has(groupKey(group.queue, group.id))}
              />
            ))}
          </ul>
        </section>
      </div>
    </div>
  );
}

function InboxEmpty({ filtered, last }: { filtered: boolean; last: GroupRow | undefined }): JSX.Element {
  if (filtered) {
    return (
      <EmptyState headline="No group fits.">
        <button type="button" onClick={() => navigate(links.inbox())}>
          Clear
        </button>
      </EmptyState>
    );
  }
  if (queues.value.size === 0) return <FirstSteps />;
  return (
    <EmptyState headline="No dead letters.">
      {last ? (
        <p>
          Last one <TimeText at={last.lastSeen} />, <a href={links.queue(last.queue)}>{last.queue}</a>.
        </p>
      ) : (
        <p>A message comes here when it was received as often as its queue allows and never deleted.</p>
      )}
    </EmptyState>
  );
}
