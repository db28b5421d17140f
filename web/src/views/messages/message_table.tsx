// The table of a queue's or group's messages: paged, newest first, with ticks and a cursor.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { MessageState, MessageSummary } from "../../api/additions";
import { countText, nounText, shortId, sizeText } from "../../model/format";
import { errorTitle } from "../../model/life";
import { links } from "../../model/routes";
import {
  isTicked,
  kNoTicks,
  type Selection,
  selectionParts,
  type Ticks,
  tick,
  tickedCount,
  withTicks,
} from "../../model/selection";
import { Pager, type PagerQuery } from "../../state/pager";
import { columnsOf, setColumns } from "../../state/prefs";
import { navigate } from "../../state/router";
import { mayOperate, whyNot } from "../../state/session";
import { messagesIn, queues } from "../../state/store";
import { type Column, DataTable } from "../../ui/data_table";
import { Menu } from "../../ui/overlay";
import { EmptyState, ErrorNote, Others, Skeleton, TimeText } from "../../ui/parts";
import { MessageMark } from "../../ui/status";

const kAllColumns: readonly Column<MessageSummary>[] = [
  { name: "state", head: "State", width: "108px", cell: (m) => <MessageMark message={m} /> },
  {
    name: "id",
    head: "Message",
    width: "96px",
    class: "mono",
    cell: (m) => <span title={m.messageId}>{shortId(m.messageId)}</span>,
  },
  {
    name: "error",
    head: "Error",
    width: "minmax(120px, 1fr)",
    cell: (m) => <Others text={errorTitle(m)} />,
  },
  { name: "attempts", head: "Attempts", width: "76px", class: "num", cell: (m) => countText(m.attemptsTotal) },
  { name: "redrives", head: "Redrives", width: "76px", class: "num", cell: (m) => countText(m.redrives) },
  { name: "size", head: "Size", width: "72px", class: "num", cell: (m) => sizeText(m.size) },
  { name: "came", head: "Came", width: "96px", cell: (m) => <TimeText at={m.deadAt ?? m.sentAt} /> },
  { name: "expires", head: "Expires", width: "96px", cell: (m) => <TimeText at={m.expiresAt} /> },
  {
    name: "preview",
    head: "Body",
    width: "minmax(160px, 2fr)",
    class: "mono",
    cell: (m) => <Others text={m.preview} />,
  },
];

const kUsual = ["state", "id", "error", "came", "preview"];
const kUsualOfGroup = ["id", "attempts", "size", "came", "preview"];

// A pager for a query, new when the query changes; the last good one stays in view while the new one has an error.
export function usePager(query: PagerQuery): Pager {
  const size = (): number | undefined => {
    const row = queues.peek().get(query.queue);
    return row ? messagesIn(row) : undefined;
  };
  const pager = useMemo(
    () => new Pager(query, size),
    [query.queue, query.filter, query.group, query.state, query.order],
  );
  useEffect(() => () => pager.stop(), [pager]);
  return pager;
}

// What changes while the pager's rows stand still.
export function usePagerNews(
  pager: Pager,
  count: number | undefined,
  busy: boolean,
): { news: number; show: () => void } {
  const seen = useRef<{ pager: Pager; count: number | undefined }>({ pager, count });
  if (seen.current.pager !== pager || seen.current.count === undefined) seen.current = { pager, count };
  const news = count !== undefined && seen.current.count !== undefined ? count - seen.current.count : 0;
  const show = (): void => {
    seen.current = { pager, count };
    pager.refresh();
  };
  useEffect(() => {
    if (news !== 0 && !busy) show();
  }, [news, busy]);
  return { news, show };
}

export interface MessageTableProps {
  base: Selection; // What the table shows, as a selection.
  pager: Pager;
  count: number | undefined; // How many there are according to the news.
  cursorKey: number | undefined;
  onCursor: (message: MessageSummary) => void;
  ticks: Ticks;
  setTicks: (ticks: Ticks) => void;
  actions?: (selection: Selection, count: number) => ComponentChildren;
  columnsFor: string;
  height?: number;
  startRow?: number;
  onScrollRow?: (first: number) => void;
}

function SearchProgress({ pager }: { pager: Pager }): JSX.Element | null {
  const search = pager.search.value;
  if (!search) return null;
  const found = pager.total.value ?? 0;
  const of = search.of === undefined ? "" : ` of ${countText(Math.max(search.of, search.scanned))}`;
  const share = search.of ? Math.min((100 * search.scanned) / search.of, 100) : 0;
  return (
    <div class="search-progress">
      <span>
        {countText(found)} found, {countText(search.scanned)}
        {of} looked at
      </span>
      {search.running && (
        <>
          <div class="track">
            <i class="busy" style={{ width: `${share}%` }} />
          </div>
          <button type="button" class="small" onClick={() => pager.stop()}>
            Stop
          </button>
        </>
      )}
    </div>
  );
}

function ColumnMenu({ place, chosen }: { place: string; chosen: readonly string[] }): JSX.Element {
  const change = (name: string, on: boolean): void => {
    const next = kAllColumns.map((c) => c.name).filter((n) => (n === name ? on : chosen.includes(n)));
    setColumns(place, next.length > 0 ? next : ["id"]);
  };
  return (
    <Menu button="Columns" label="Choose columns" class="small plain">
      {kAllColumns.map((c) => (
        <label>
          {c.head}
          <input
            type="checkbox"
            checked={chosen.includes(c.name)}
            onChange={(e) => change(c.name, e.currentTarget.checked)}
          />
        </label>
      ))}
    </Menu>
  );
}

export function MessageTable(props: MessageTableProps): JSX.Element {
  const { pager, ticks, setTicks } = props;
  const [busy, setBusy] = useState(false);
  const [cursor, setCursor] = useState(0);
  const chosen = columnsOf(props.columnsFor) ?? (props.base.group ? kUsualOfGroup : kUsual);
  void pager.version.value;
  const total = pager.total.value;
  const { news, show } = usePagerNews(pager, props.count, busy);
  const may = mayOperate.value && whyNot(props.base.queue) === undefined;

  useEffect(() => {
    const found = props.cursorKey === undefined ? undefined : pager.find(props.cursorKey);
    if (found) setCursor(found.index);
    else if (!busy && props.cursorKey === undefined) {
      setCursor(0);
      const first = pager.row(0);
      if (first) props.onCursor(first);
    }
  }, [pager, pager.version.value]);

  const tickColumn: Column<MessageSummary> = {
    name: "tick",
    head: (
      <input
        type="checkbox"
        aria-label="Select everything that matches"
        checked={ticks.all}
        onChange={(e) => setTicks({ all: e.currentTarget.checked, keys: new Set() })}
      />
    ),
    width: "36px",
    cell: (m) => (
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={`Select ${m.messageId}`}
        checked={isTicked(ticks, m.key)}
        onChange={(e) => setTicks(tick(ticks, m.key, e.currentTarget.checked))}
      />
    ),
  };
  const columns = [...(may ? [tickColumn] : []), ...kAllColumns.filter((c) => chosen.includes(c.name))];
  const count = tickedCount(ticks, total ?? 0);
  const selection = withTicks(props.base, ticks);
  const isTicking = ticks.all || ticks.keys.size > 0;
  const onKey = (event: KeyboardEvent, index: number, row: MessageSummary | undefined): boolean => {
    if (!row) return false;
    if (event.key === "x" && may) setTicks(tick(ticks, row.key, !isTicked(ticks, row.key)));
    else if (event.shiftKey && (event.key === "ArrowDown" || event.key === "ArrowUp") && may) {
      const next = index + (event.key === "ArrowDown" ? 1 : -1);
      const other = pager.row(next);
      let grown = tick(ticks, row.key, true);
      if (other) grown = tick(grown, other.key, true);
      setTicks(grown);
      if (other) {
        setCursor(next);
        props.onCursor(other);
      }
    } else if (event.key === " ") props.onCursor(row);
    else return false;
    return true;
  };

  return (
    <div
      onPointerEnter={() => setBusy(true)}
      onPointerLeave={() => setBusy(false)}
      onFocusIn={() => setBusy(true)}
      onFocusOut={(e) => setBusy(e.currentTarget.contains(e.relatedTarget as Node | null))}
    >
      <div class="selection-bar">
        <span class="sentence">
          {isTicking ? (
            <>
              <b>{nounText(count, "message")}</b>{" "}
              <span class="muted">
                <Others text={selectionParts(selection, undefined).join(" · ")} />
              </span>
            </>
          ) : (
            <span class="muted">
              {total === undefined
                ? "…"
                : `${countText(total)} · ${pager.query.order === "newest" ? "newest" : "oldest"} first`}{" "}
              · looking changes nothing
            </span>
          )}
        </span>
        {isTicking && props.actions?.(selection, count)}
        {isTicking && (
          <button type="button" class="small plain" onClick={() => setTicks(kNoTicks)}>
            Clear
          </button>
        )}
        <ColumnMenu place={props.columnsFor} chosen={chosen} />
      </div>
      <SearchProgress pager={pager} />
      {news !== 0 && busy && (
        <div class="calm-bar">
          <button type="button" class="small plain" onClick={show}>
            {news > 0 ? `${countText(news)} new` : `${countText(-news)} left`} · show
          </button>
        </div>
      )}
      {pager.error.value && !pager.query.filter && (
        <ErrorNote error={pager.error.value} again={() => pager.refresh()} />
      )}
      {total === undefined && !pager.error.value && <Skeleton rows={6} />}
      {total === 0 && !pager.search.value?.running && <NoMessages pager={pager} />}
      {total !== undefined && total > 0 && (
        <DataTable
          label={`Messages of ${props.base.queue}`}
          columns={columns}
          rowCount={total}
          row={(i) => pager.row(i)}
          rowKey={(m) => m.key}
          cursor={cursor}
          want={(first, n) => pager.want(first, n)}
          onCursor={(index, row) => {
            setCursor(index);
            if (row) props.onCursor(row);
          }}
          onOpen={(_, row) => navigate(links.message(props.base.queue, row.key))}
          onKey={onKey}
          isSelected={(m) => isTicking && isTicked(ticks, m.key)}
          startRow={props.startRow ?? 0}
          onScrollRow={(first) => props.onScrollRow?.(first)}
          {...(props.height ? { height: props.height } : {})}
        />
      )}
    </div>
  );
}

function NoMessages({ pager }: { pager: Pager }): JSX.Element {
  const { filter, queue } = pager.query;
  if (!filter) return <EmptyState headline="No messages.">{<p>Nothing waits in {queue}.</p>}</EmptyState>;
  const search = pager.search.value;
  return (
    <EmptyState headline="No message fits.">
      <code>
        <Others text={filter} />
      </code>
      <p>0 of {countText(search?.scanned ?? 0)} looked at</p>
    </EmptyState>
  );
}

export const kStates: readonly { state: MessageState | undefined; text: string }[] = [
  { state: undefined, text: "All" },
  { state: "visible", text: "Visible" },
  { state: "in-flight", text: "In flight" },
  { state: "delayed", text: "Delayed" },
];
