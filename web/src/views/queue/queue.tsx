// A queue: charts, what feeds and drains it, its policy, what the doctor says.

import type { JSX } from "preact";
import { examine } from "../../api/additions";
import { showPolicy } from "../../api/manage";
import { countText, functionOfArn, nameOfArn, rateText } from "../../model/format";
import { policyPoints } from "../../model/retry_timeline";
import { links } from "../../model/routes";
import { durationText } from "../../model/time";
import { useResource } from "../../state/resource";
import { route } from "../../state/router";
import { deadLetterQueues, groups, handlers, jobs, queues } from "../../state/store";
import { Chart, type ChartMark } from "../../ui/chart";
import { ErrorNote, Others, Section, TimeText } from "../../ui/parts";
import { RetryLine } from "../../ui/retry_line";
import { StatusBadge } from "../../ui/status";
import { FindingRow } from "../doctor/finding_row";
import { QueueHead } from "./queue_head";
import { RangePicker } from "./range_picker";
import { useChartWindow, useMetrics, valuesOf } from "./use_metrics";

const kMetrics = [
  "visible",
  "not-visible",
  "delayed",
  "oldest-age",
  "sent",
  "deleted",
  "dead-lettered",
  "dead-lettered-away",
  "redriven",
];

function marksOf(queue: string): ChartMark[] {
  return [...jobs.value.values()]
    .filter((j) => j.queue === queue)
    .map((j) => ({ at: Date.parse(j.startedAt) / 1000, text: "job", colour: "accent" as const }));
}

function Charts({ queue, dead }: { queue: string; dead: boolean }): JSX.Element {
  const window = useChartWindow();
  const read = useMetrics(
    `queue ${queue}`,
    window,
    kMetrics.map((metric) => ({ queue, metric })),
  );
  const answer = read.value;
  const common = {
    from: answer?.from ?? window.from,
    step: answer?.step ?? window.step,
    onRange: window.brush,
    marks: marksOf(queue),
  };
  const rate = (v: number): string => `${rateText(v).replace("–", "0")}/s`;
  return (
    <>
      <Section title="Messages" aside={<RangePicker window={window} />}>
        {read.error && <ErrorNote error={read.error} again={read.again} />}
        <Chart
          {...common}
          label="Messages in the queue"
          stacked
          height={200}
          series={[
            { label: "visible", colour: dead ? "dead" : "accent", values: valuesOf(answer, "visible") },
            { label: "in flight", colour: "ok", values: valuesOf(answer, "not-visible") },
            { label: "delayed", colour: "wait", values: valuesOf(answer, "delayed") },
          ]}
        />
      </Section>
      <div class="columns half">
        <Section title="Rates">
          <Chart
            {...common}
            label="Messages a second"
            unit={rate}
            series={[
              {
                label: dead ? "came" : "in",
                colour: dead ? "dead" : "accent",
                values: valuesOf(answer, dead ? "dead-lettered" : "sent", true),
              },
              {
                label: dead ? "redriven" : "out",
                colour: "ok",
                dashed: true,
                values: valuesOf(answer, dead ? "redriven" : "deleted", true),
              },
            ]}
          />
        </Section>
        <Section title="Age of the oldest">
          <Chart
            {...common}
            label="Age of the oldest message"
            durations
            unit={(v) => (v === 0 ? "0" : durationText(v * 1000))}
            series={[{ label: "oldest", colour: "accent", fill: true, values: valuesOf(answer, "oldest-age") }]}
          />
        </Section>
      </div>
      {!dead && (
        <Section title="Dead letters">
          <Chart
            {...common}
            label="Messages that left as dead letters"
            height={110}
            series={[{ label: "dead", colour: "dead", fill: true, values: valuesOf(answer, "dead-lettered-away") }]}
          />
        </Section>
      )}
    </>
  );
}

function Around({ queue }: { queue: string }): JSX.Element {
  const row = queues.value.get(queue);
  const drains = handlers.value.filter((h) => nameOfArn(h.queueArn ?? "") === queue);
  return (
    <Section title="Around it">
      <div class="pad">
        <dl class="pairs linked">
          {(row?.sources?.length ?? 0) > 0 && (
            <>
              <dt>failures of</dt>
              <dd>
                {row?.sources?.map((s, i) => (
                  <>
                    {i > 0 && ", "}
                    <a href={links.queue(s)}>
                      <Others text={s} />
                    </a>
                  </>
                ))}
              </dd>
            </>
          )}
          <dt>drained by</dt>
          <dd>
            {drains.length === 0 && (
              <span class="muted">
                {(row?.received ?? 0) > 0 ? "consumers of their own" : "nothing since the server started"}
              </span>
            )}
            {drains.map((h) => (
              <div>
                <a href={links.function(functionOfArn(h.function ?? ""))}>
                  <Others text={functionOfArn(h.function ?? "")} />
                </a>{" "}
                <span class="muted">
                  {h.enabled
                    ? `${countText(h.running ?? 0)} of ${h.limit ? countText(h.limit) : "any"} runs at once`
                    : "paused"}
                </span>
              </div>
            ))}
          </dd>
          {row?.deadLetterQueue && (
            <>
              <dt>failures go to</dt>
              <dd>
                <a href={links.queue(row.deadLetterQueue)}>
                  <Others text={row.deadLetterQueue} />
                </a>
              </dd>
            </>
          )}
          <dt>since start</dt>
          <dd class="muted">
            {countText(row?.sent ?? 0)} sent, {countText(row?.received ?? 0)} received, {countText(row?.deleted ?? 0)}{" "}
            deleted, {countText(row?.expired ?? 0)} expired
          </dd>
        </dl>
      </div>
    </Section>
  );
}

function Policy({ queue }: { queue: string }): JSX.Element {
  const read = useResource(`policy ${queue}`, () => showPolicy(queue));
  const policy = read.value;
  const points = policy ? policyPoints(policy) : [];
  const then: Record<string, string> = { park: "parked", discard: "discarded", archive: "archived" };
  return (
    <Section title="What it does by itself" aside={<a href={links.settings(queue)}>Change</a>}>
      {read.error && <ErrorNote error={read.error} again={read.again} />}
      {policy && points.length === 0 && (
        <p class="pad muted">
          Nothing is redriven by itself.
          {(policy.maxRedrives ?? 0) > 0 &&
            ` A message gets ${policy.maxRedrives} redrives, then it is ${then[policy.then ?? "park"]}.`}
        </p>
      )}
      {policy && points.length > 0 && (
        <RetryLine points={points} end={policy.maxRedrives ? (then[policy.then ?? "park"] ?? "") : ""} />
      )}
    </Section>
  );
}

function QueueGroups({ queue }: { queue: string }): JSX.Element | null {
  const rows = [...groups.value.values()]
    .filter((g) => g.queue === queue && g.count > 0)
    .sort((a, b) => b.count - a.count);
  if (rows.length === 0) return null;
  return (
    <Section title="Groups" aside={<a href={links.inbox({ queue })}>in the inbox</a>}>
      <table class="plain">
        <tbody>
          {rows.slice(0, 8).map((g) => (
            <tr>
              <td>
                <a href={links.group(queue, g.id)}>
                  <Others text={g.title} />
                </a>{" "}
                <StatusBadge kind="group" state={g.status} />
              </td>
              <td class="num">
                <b class="c-dead">{countText(g.count)}</b>
              </td>
              <td class="muted">
                <TimeText at={g.lastSeen} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

export function Queue(): JSX.Element {
  const { queue = "" } = route.value.params;
  const dead = deadLetterQueues.value.some((q) => q.name === queue);
  const findings = useResource(`doctor ${queue}`, () => examine(queue));
  const found = (findings.value?.findings ?? []).filter((f) => f.queue === queue);
  return (
    <div class="page">
      <QueueHead queue={queue} tab="queue" />
      <div class="columns side">
        <div class="column">
          {dead && <QueueGroups queue={queue} />}
          <Charts queue={queue} dead={dead} />
        </div>
        <div class="column">
          <Around queue={queue} />
          {dead && <Policy queue={queue} />}
          {found.length > 0 && (
            <Section title="Findings" aside={<a href={links.doctor()}>Doctor</a>}>
              {found.map((f) => (
                <FindingRow finding={f} />
              ))}
            </Section>
          )}
        </div>
      </div>
    </div>
  );
}
