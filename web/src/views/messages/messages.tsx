// The messages of a queue: filter, table, and the message under the cursor beside it.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { MessageState, MessageSummary } from "../../api/additions";
import { addClause } from "../../model/filter_text";
import { countText } from "../../model/format";
import { links } from "../../model/routes";
import { kNoTicks, type Selection, type Ticks } from "../../model/selection";
import { useActions } from "../../state/actions";
import type { Pager } from "../../state/pager";
import { pushQuery, replaceQuery, route } from "../../state/router";
import { whyNot } from "../../state/session";
import { deadLetterQueues, messagesIn, queues } from "../../state/store";
import { FilterBar } from "../../ui/filter_bar";
import { MessagePane } from "../message/message_pane";
import { QueueHead } from "../queue/queue_head";
import { openRedrive } from "../redrive/redrive_state";
import { SelectionActions } from "./message_actions";
import { kStates, MessageTable, usePager } from "./message_table";
import { useFields } from "./use_fields";

// Ids of picked messages that are in view: the command line takes ids, not keys.
export function idsOf(pager: Pager, selection: Selection): string[] {
  return (selection.keys ?? []).map((key) => pager.find(key)?.row.messageId).filter((id) => id !== undefined);
}

export function Messages(): JSX.Element {
  const { queue = "" } = route.value.params;
  const { query } = route.value;
  const filter = query.get("filter") ?? "";
  const state = (query.get("state") as MessageState | null) ?? undefined;
  const order = query.get("order") === "oldest" ? "oldest" : "newest";
  const cursor = query.get("m") ? Number(query.get("m")) : undefined;
  const pager = usePager({ queue, filter: filter || undefined, state, order });
  const [ticks, setTicks] = useState<{ of: Pager; ticks: Ticks }>({ of: pager, ticks: kNoTicks });
  const shownTicks = ticks.of === pager ? ticks.ticks : kNoTicks;
  const fields = useFields(queue);
  const row = queues.value.get(queue);
  const dead = deadLetterQueues.value.some((q) => q.name === queue);
  const base: Selection = { queue, ...(filter ? { filter } : {}) };
  const narrow = (clause: string, negated: boolean): void =>
    pushQuery({ filter: addClause(filter, clause, negated), m: undefined });
  const found = cursor === undefined ? undefined : pager.find(cursor)?.row;
  const count = state === undefined && row && !filter ? messagesIn(row) : undefined;
  useActions(
    dead && whyNot(queue) === undefined
      ? [
          {
            id: "redrive",
            label: `Redrive ${countText(pager.total.value ?? 0)}…`,
            key: "r",
            run: () => openRedrive(base, pager.total.value),
          },
        ]
      : [],
  );
  return (
    <div class="page">
      <QueueHead queue={queue} tab="messages" />
      <FilterBar
        value={filter}
        change={(f) => pushQuery({ filter: f, m: undefined })}
        fields={fields.fields}
        loadFields={fields.load}
        problem={filter ? pager.error.value : undefined}
      />
      <div class="columns side messages-columns">
        <section class="section" aria-label="Messages">
          <header>
            <h2>Messages</h2>
            <div class="aside">
              <div class="segmented" role="group" aria-label="State">
                {kStates.map((s) => (
                  <button
                    type="button"
                    aria-pressed={s.state === state}
                    onClick={() => replaceQuery({ state: s.state, m: undefined })}
                  >
                    {s.text}
                  </button>
                ))}
              </div>
              <div class="segmented" role="group" aria-label="Order">
                {(["newest", "oldest"] as const).map((o) => (
                  <button
                    type="button"
                    aria-pressed={o === order}
                    onClick={() => replaceQuery({ order: o === "newest" ? undefined : o, m: undefined })}
                  >
                    {o === "newest" ? "Newest" : "Oldest"}
                  </button>
                ))}
              </div>
            </div>
          </header>
          <MessageTable
            base={base}
            pager={pager}
            count={count}
            cursorKey={cursor}
            onCursor={(m: MessageSummary) => replaceQuery({ m: m.key })}
            ticks={shownTicks}
            setTicks={(t) => setTicks({ of: pager, ticks: t })}
            columnsFor={queue}
            startRow={Number(query.get("at") ?? 0)}
            onScrollRow={(first) => replaceQuery({ at: first > 0 ? first : undefined })}
            actions={(selection, n) => (
              <SelectionActions selection={selection} count={n} ids={idsOf(pager, selection)} dead={dead} />
            )}
          />
        </section>
        <div class="column">
          <MessagePane queue={queue} messageKey={cursor} messageId={found?.messageId} onClause={narrow} withError />
        </div>
      </div>
      {row === undefined && queues.value.size > 0 && (
        <p class="muted">
          <a href={links.queues()}>All queues</a>
        </p>
      )}
    </div>
  );
}
