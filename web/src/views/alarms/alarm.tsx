// One alarm: its state, its history on a chart and as a list, its targets.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { type AlarmRow, snoozeAlarm } from "../../api/additions";
import { listAlarms, removeAlarm, showAlarmHistory } from "../../api/manage";
import { links } from "../../model/routes";
import { now } from "../../state/clock";
import { useResource, useTask } from "../../state/resource";
import { navigate, route } from "../../state/router";
import { mayOperate } from "../../state/session";
import { alarms, live } from "../../state/store";
import { Chart } from "../../ui/chart";
import { Menu } from "../../ui/overlay";
import { EmptyState, ErrorNote, Others, PageHead, Section, Skeleton, TimeText } from "../../ui/parts";
import { StatusBadge } from "../../ui/status";
import { RangePicker } from "../queue/range_picker";
import { useChartWindow, useMetrics, valuesOf } from "../queue/use_metrics";
import { AlarmSwitch } from "./alarm_switch";
import { TargetList } from "./targets";

function AlarmChart({
  queue,
  events,
}: {
  queue: string;
  events: { time?: string; kind?: string; summary?: string }[];
}): JSX.Element {
  const window = useChartWindow("24h");
  const read = useMetrics(`alarm ${queue}`, window, [{ queue, metric: "visible" }]);
  const marks = events
    .filter((e) => e.kind === "StateUpdate")
    .map((e) => ({
      at: Date.parse(e.time ?? "") / 1000,
      text: e.summary ?? "",
      colour: /to ALARM/.test(e.summary ?? "") ? ("dead" as const) : ("ok" as const),
    }));
  return (
    <Section title="Messages" aside={<RangePicker window={window} />}>
      {read.error && <ErrorNote error={read.error} again={read.again} />}
      <Chart
        label={`Messages in ${queue}, with changes of state marked`}
        from={read.value?.from ?? window.from}
        step={read.value?.step ?? window.step}
        onRange={window.brush}
        marks={marks}
        series={[{ label: "visible", colour: "dead", fill: true, values: valuesOf(read.value, "visible") }]}
      />
    </Section>
  );
}

export function AlarmPage(): JSX.Element {
  const name = route.value.params.alarm ?? "";
  const list = useResource("alarms", (signal) => listAlarms(signal));
  const history = useResource(`alarm history ${name}`, () => showAlarmHistory(name));
  const task = useTask();
  const [said, setSaid] = useState("");
  const alarm = (alarms.value.get(name) ?? list.value?.alarms?.find((a) => a.name === name)) as AlarmRow | undefined;
  const events = history.value?.events ?? [];
  const snooze = (hours: number): Promise<void> =>
    task.run(async () => {
      await snoozeAlarm(name, hours === 0 ? undefined : new Date(now.value + hours * 3_600_000).toISOString());
      setSaid(hours === 0 ? "It notifies again." : `Quiet for ${hours} h.`);
      live.again();
    });
  const remove = (): Promise<void> =>
    task.run(async () => {
      await removeAlarm(name);
      live.again(true);
      navigate(links.alarms());
    });
  return (
    <div class="page">
      <PageHead
        crumbs={[{ text: "Alarms", href: links.alarms() }, { text: name }]}
        title={
          <>
            <Others text={name} />
            {alarm && <StatusBadge kind="alarm" state={alarm.state} />}
          </>
        }
      >
        {alarm && (
          <div class="facts">
            {alarm.reason && (
              <span>
                <b>{<Others text={alarm.reason} />}</b>
              </span>
            )}
            {alarm.since && (
              <span>
                since{" "}
                <b>
                  <TimeText at={alarm.since} />
                </b>
              </span>
            )}
            {alarm.queue && (
              <span>
                queue <a href={links.queue(alarm.queue)}>{alarm.queue}</a>
              </span>
            )}
            {alarm.metric && (
              <span>
                <b>
                  {alarm.statistic} {alarm.metric} {alarm.comparison} {alarm.threshold}
                </b>
              </span>
            )}
          </div>
        )}
        {alarm && mayOperate.value && (
          <div class="bar">
            <AlarmSwitch alarm={alarm} />
            <Menu button="Snooze" label="Snooze" class="plain">
              {[1, 8, 24].map((h) => (
                <button type="button" data-closes onClick={() => void snooze(h)}>
                  for {h} h
                </button>
              ))}
              <button type="button" data-closes onClick={() => void snooze(0)}>
                Notify again
              </button>
            </Menu>
            {alarm.kind === "metric" && (
              <button type="button" class="danger" disabled={task.running} onClick={() => void remove()}>
                Remove the alarm
              </button>
            )}
            {said && <span class="muted">{said}</span>}
          </div>
        )}
        {task.error && <ErrorNote error={task.error} />}
      </PageHead>
      {!alarm && list.value && <EmptyState headline="There is no alarm of this name." />}
      <div class="columns side">
        <div class="column">
          {alarm?.queue && <AlarmChart queue={alarm.queue} events={events} />}
          <Section title="What happened">
            {history.error && <ErrorNote error={history.error} again={history.again} />}
            {history.loading && !history.value && <Skeleton />}
            {history.value && events.length === 0 && <p class="pad muted">Nothing in the last two weeks.</p>}
            {events.length > 0 && (
              <ol class="timeline">
                {events.map((e) => (
                  <li class={/to ALARM/.test(e.summary ?? "") ? "failed" : ""}>
                    <i class="point" />
                    <span>
                      <Others text={e.summary ?? ""} />
                    </span>
                    <TimeText at={e.time} />
                  </li>
                ))}
              </ol>
            )}
          </Section>
        </div>
        <div class="column">
          <Section title="Targets">
            <TargetList targets={alarm?.targets ?? []} />
            {(alarm?.targets ?? []).length === 0 && <p class="pad muted">It notifies nothing.</p>}
          </Section>
        </div>
      </div>
    </div>
  );
}
