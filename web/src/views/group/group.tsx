// One cause: why, what it looks like, and what to do about it.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { GroupRow, MessageSummary } from "../../api/additions";
import { exportMessages } from "../../api/additions";
import { showGroup, showMessage } from "../../api/manage";
import type { FailureGroup } from "../../api/types.gen";
import { addClause } from "../../model/filter_text";
import { countText, shortId } from "../../model/format";
import { errorTitle, tellingAttempt } from "../../model/life";
import { links } from "../../model/routes";
import { kNoTicks, type Selection, type Ticks } from "../../model/selection";
import { download } from "../../state/notices";
import type { Pager } from "../../state/pager";
import { useResource, useTask } from "../../state/resource";
import { pushQuery, replaceQuery, route } from "../../state/router";
import { groupKey, groups, isOver, jobs, noteGroup } from "../../state/store";
import { FilterBar } from "../../ui/filter_bar";
import { CopyButton, ErrorNote, Others, PageHead, Section, Skeleton } from "../../ui/parts";
import { StatusBadge } from "../../ui/status";
import { StackTrace } from "../../ui/text_views";
import { JobProgress, JobReceipt } from "../jobs/job_parts";
import { useJob } from "../jobs/use_job";
import { MessagePane } from "../message/message_pane";
import { SelectionActions } from "../messages/message_actions";
import { MessageTable, usePager } from "../messages/message_table";
import { idsOf } from "../messages/messages";
import { useFields } from "../messages/use_fields";
import { panel } from "../redrive/redrive_state";
import { Breakdown } from "./breakdown";
import { Causes } from "./causes";
import { GroupActions } from "./group_actions";
import { GroupFacts } from "./group_facts";

// The group with what sets it apart, read again when it has changed.
function useGroup(
  queue: string,
  id: string,
): { group: FailureGroup | undefined; read: ReturnType<typeof useResource<FailureGroup>> } {
  const row = groups.value.get(groupKey(queue, id));
  const trigger = row ? `${row.total} ${row.status} ${row.count > 0} ${row.note ?? ""}` : "";
  const read = useResource(`group ${queue} ${id}`, (signal) => showGroup(queue, id, signal), trigger);
  const whole = read.value;
  // An empty group has nothing left to compare: what was found before stays in view.
  const causes = useRef<FailureGroup["setsApart"]>(undefined);
  if (whole?.setsApart?.length) causes.current = whole.setsApart;
  const group =
    whole && row
      ? { ...whole, ...row, setsApart: whole.setsApart?.length ? whole.setsApart : (causes.current ?? row.setsApart) }
      : (whole ?? row);
  useEffect(() => {
    if (whole && !row) noteGroup({ ...whole, queue } as GroupRow);
  }, [whole]);
  return { group: group as FailureGroup | undefined, read };
}

// The job that takes from this group, or the last one that did.
function RelatedJob({ queue, id }: { queue: string; id: string }): JSX.Element | null {
  const related = [...jobs.value.values()]
    .filter((j) => j.queue === queue && j.group?.includes(id))
    .sort((a, b) => Number(isOver(a)) - Number(isOver(b)) || b.startedAt.localeCompare(a.startedAt))[0];
  const inDrawer = panel.value?.kind === "job" && panel.value.job === related?.id;
  return related && !inDrawer ? <JobHere id={related.id} /> : null;
}

function JobHere({ id }: { id: string }): JSX.Element | null {
  const job = useJob(id);
  if (!job) return null;
  return (
    <>
      <JobProgress job={job} />
      <JobReceipt job={job} />
      <a class="job-link" href={links.job(id)}>
        The job's page
      </a>
    </>
  );
}

// The stack of the group's newest or sample message.
function GroupStack({ queue, sample }: { queue: string; sample: number | undefined }): JSX.Element | null {
  const read = useResource(sample === undefined ? undefined : `message ${queue} ${sample} false`, (signal) =>
    showMessage(queue, sample ?? 0, false, signal),
  );
  const telling = tellingAttempt(read.value?.attempts ?? []);
  if (!telling?.stackTrace) return null;
  return (
    <Section
      title="Stack"
      aside={
        <>
          <span>application frames first</span>
          <CopyButton text={telling.stackTrace} label="Copy the stack" />
        </>
      }
    >
      {!telling.stackTrace.includes(telling.errorMessage ?? "") && (
        <p class="error-title">
          <Others text={errorTitle(telling)} />
        </p>
      )}
      <StackTrace trace={telling.stackTrace} />
    </Section>
  );
}

export function Group(): JSX.Element {
  const { queue = "", group: id = "" } = route.value.params;
  const { group, read } = useGroup(queue, id);
  const { query } = route.value;
  const filter = query.get("filter") ?? "";
  const cursor = query.get("m") ? Number(query.get("m")) : undefined;
  const pager = usePager({ queue, group: id, filter: filter || undefined, order: "newest" });
  const [ticks, setTicks] = useState<{ of: Pager; ticks: Ticks }>({ of: pager, ticks: kNoTicks });
  const shownTicks = ticks.of === pager ? ticks.ticks : kNoTicks;
  const fields = useFields(queue);
  const exporting = useTask();
  const [exported, setExported] = useState<number | undefined>(undefined);
  const found = cursor === undefined ? undefined : pager.find(cursor)?.row;
  const base: Selection = {
    queue,
    group: id,
    ...(group ? { groupTitle: group.title } : {}),
    ...(filter ? { filter } : {}),
  };
  const narrow = (clause: string, negated: boolean): void =>
    pushQuery({ filter: addClause(filter, clause, negated), m: undefined });
  const exportAll = (): Promise<void> =>
    exporting.run(async () => {
      const blob = await exportMessages(queue, { group: id, filter: filter || undefined }, setExported);
      setExported(undefined);
      download(`${queue}-${id.slice(0, 8)}.ndjson`, blob);
    });

  const crumbs = [
    { text: "Dead letters", href: links.inbox() },
    { text: queue, href: links.queue(queue) },
    { text: `group ${shortId(id)}` },
  ];
  if (!group) {
    return (
      <div class="page">
        <PageHead crumbs={crumbs} title="Group" />
        {read.error ? <ErrorNote error={read.error} again={read.again} /> : <Skeleton rows={8} />}
      </div>
    );
  }
  const waiting = filter ? (pager.total.value ?? 0) : group.count;
  return (
    <div class="page">
      <PageHead
        crumbs={crumbs}
        title={
          <>
            <Others text={group.title} />
            <StatusBadge kind="group" state={group.status} />
            {group.escalating && <span class="badge dead">↗ escalating</span>}
          </>
        }
      >
        <details class="why">
          <summary>Why these are one group</summary>
          <p>
            <Others text={group.whyGrouped} />
          </p>
        </details>
        <GroupFacts group={group} queue={queue} />
        <GroupActions
          group={group}
          queue={queue}
          selection={base}
          count={waiting}
          cursor={found ?? pager.row(0)}
          exportAll={() => void exportAll()}
          exported={exported}
        />
        {exporting.error && <ErrorNote error={exporting.error} />}
      </PageHead>
      {read.error && <ErrorNote error={read.error} again={read.again} />}
      <div class="columns side">
        <div class="column">
          <Causes group={group} narrow={narrow} />
          <GroupStack queue={queue} sample={group.sample} />
          <section class="section" aria-label="Messages">
            <header>
              <h2>Messages</h2>
              <div class="aside">{countText(group.count)} waiting</div>
            </header>
            <div class="pad filter-pad">
              <FilterBar
                value={filter}
                change={(f) => pushQuery({ filter: f, m: undefined })}
                fields={fields.fields}
                loadFields={fields.load}
                problem={filter ? pager.error.value : undefined}
                label="Filter the group's messages"
              />
            </div>
            <MessageTable
              base={base}
              pager={pager}
              count={filter ? undefined : group.count}
              cursorKey={cursor}
              onCursor={(m: MessageSummary) => replaceQuery({ m: m.key })}
              ticks={shownTicks}
              setTicks={(t) => setTicks({ of: pager, ticks: t })}
              columnsFor={`group ${queue}`}
              height={320}
              actions={(selection, n) => (
                <SelectionActions selection={selection} count={n} ids={idsOf(pager, selection)} dead />
              )}
            />
          </section>
          <Breakdown queue={queue} group={id} filter={filter} narrow={narrow} />
        </div>
        <div class="column">
          <RelatedJob queue={queue} id={id} />
          <MessagePane queue={queue} messageKey={cursor} messageId={found?.messageId} onClause={narrow} />
        </div>
      </div>
    </div>
  );
}
