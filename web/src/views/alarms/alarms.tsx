// Alarms: which ring, why, and whether the notice arrived.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { AlarmRow } from "../../api/additions";
import { addAlarm, listAlarms, listAlarmTargets, testAlarmTargets } from "../../api/manage";
import { countText } from "../../model/format";
import { links } from "../../model/routes";
import { useResource, useTask } from "../../state/resource";
import { mayOperate } from "../../state/session";
import { alarms, queueNames } from "../../state/store";
import { EmptyState, ErrorNote, Field, Others, PageHead, Section, Skeleton, TimeText } from "../../ui/parts";
import { StatusBadge } from "../../ui/status";
import { AlarmSwitch } from "./alarm_switch";
import { TargetList } from "./targets";

const kMetrics = [
  "ApproximateNumberOfMessagesVisible",
  "ApproximateNumberOfMessagesNotVisible",
  "ApproximateAgeOfOldestMessage",
  "NumberOfMessagesSent",
  "NumberOfMessagesDeleted",
  "NumberOfMessagesDeadLettered",
];

function AddAlarm({ added }: { added: () => void }): JSX.Element {
  const [form, setForm] = useState({
    name: "",
    queue: "",
    metric: kMetrics[0] ?? "",
    threshold: "1000",
    periodSeconds: "60",
    notify: "",
  });
  const task = useTask();
  const set = (part: Partial<typeof form>): void => setForm((f) => ({ ...f, ...part }));
  const submit = (): Promise<void> =>
    task.run(async () => {
      await addAlarm({
        name: form.name,
        queue: form.queue,
        metric: form.metric,
        threshold: Number(form.threshold),
        periodSeconds: Number(form.periodSeconds),
        ...(form.notify ? { notify: [form.notify] } : {}),
      });
      added();
    });
  return (
    <Section title="New alarm">
      <form
        class="pad stack"
        onSubmit={(e) => {
          e.preventDefault();
          void submit();
        }}
      >
        <Field label="Name">
          <input required value={form.name} onInput={(e) => set({ name: e.currentTarget.value })} />
        </Field>
        <Field label="Queue">
          <input
            required
            list="alarm-queues"
            value={form.queue}
            onInput={(e) => set({ queue: e.currentTarget.value })}
          />
          <datalist id="alarm-queues">
            {queueNames.value.map((n) => (
              <option value={n} />
            ))}
          </datalist>
        </Field>
        <Field label="Metric">
          <select value={form.metric} onChange={(e) => set({ metric: e.currentTarget.value })}>
            {kMetrics.map((m) => (
              <option value={m}>{m}</option>
            ))}
          </select>
        </Field>
        <div class="bar">
          <Field label="Rings above">
            <input type="number" value={form.threshold} onInput={(e) => set({ threshold: e.currentTarget.value })} />
          </Field>
          <Field label="Over (seconds)">
            <input
              type="number"
              min={10}
              value={form.periodSeconds}
              onInput={(e) => set({ periodSeconds: e.currentTarget.value })}
            />
          </Field>
        </div>
        <Field label="Notify" note="ARN of a queue or function, or a webhook">
          <input value={form.notify} onInput={(e) => set({ notify: e.currentTarget.value })} />
        </Field>
        {task.error && <ErrorNote error={task.error} />}
        <div class="bar">
          <button type="submit" disabled={task.running}>
            Add the alarm
          </button>
        </div>
      </form>
    </Section>
  );
}

export function Alarms(): JSX.Element {
  const read = useResource("alarms", (signal) => listAlarms(signal));
  const targets = useResource("alarm targets", () => listAlarmTargets());
  const task = useTask();
  const known = new Map((read.value?.alarms ?? []).map((a) => [a.name, a as AlarmRow]));
  for (const [name, row] of alarms.value) known.set(name, { ...known.get(name), ...row });
  const rank: Record<string, number> = { ALARM: 0, INSUFFICIENT_DATA: 2, OK: 1 };
  const rows = [...known.values()].sort(
    (a, b) => (rank[a.state] ?? 1) - (rank[b.state] ?? 1) || a.name.localeCompare(b.name),
  );
  const test = (): Promise<void> =>
    task.run(async () => {
      await testAlarmTargets();
      targets.again();
    });
  return (
    <div class="page">
      <PageHead title="Alarms">
        <div class="facts">
          <span class={rows.some((r) => r.state === "ALARM") ? "dead" : ""}>
            <b>{countText(rows.filter((r) => r.state === "ALARM").length)}</b> ringing
          </span>
          <span>
            <b>{countText(rows.length)}</b> alarms
          </span>
        </div>
        {mayOperate.value && (
          <div class="bar">
            <button type="button" disabled={task.running} onClick={() => void test()}>
              Send a test notice to every target
            </button>
          </div>
        )}
        {task.error && <ErrorNote error={task.error} />}
      </PageHead>
      <div class="columns side">
        <div class="column">
          <section class="section" aria-label="Alarms">
            {read.error && <ErrorNote error={read.error} again={read.again} />}
            {read.loading && rows.length === 0 && <Skeleton />}
            {!read.loading && rows.length === 0 && (
              <EmptyState headline="No alarms.">
                <p>Every dead-letter queue has one by itself.</p>
              </EmptyState>
            )}
            {rows.length > 0 && (
              <div class="table-wrap">
                <table class="plain">
                  <thead>
                    <tr>
                      <th>State</th>
                      <th>Alarm</th>
                      <th>Why</th>
                      <th>Since</th>
                      <th>Notices</th>
                    </tr>
                  </thead>
                  <tbody>
                    {rows.map((a) => (
                      <tr>
                        <td>
                          <StatusBadge kind="alarm" state={a.state} />
                        </td>
                        <td>
                          <a href={links.alarm(a.name)}>
                            <Others text={a.name} />
                          </a>
                        </td>
                        <td class="muted">
                          <Others text={a.reason ?? ""} />
                        </td>
                        <td class="muted">
                          <TimeText at={a.since} />
                        </td>
                        <td>
                          <AlarmSwitch alarm={a} />
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
          </section>
        </div>
        <div class="column">
          <Section title="Targets">
            {targets.error && <ErrorNote error={targets.error} again={targets.again} />}
            <TargetList targets={targets.value?.targets ?? []} />
            {targets.value?.targets?.length === 0 && (
              <div class="pad stack">
                <p class="muted">Nothing is notified. In redrive.toml:</p>
                <pre class="code sunken">{'[alarms]\nnotify = ["https://hooks.slack.com/services/…"]'}</pre>
              </div>
            )}
          </Section>
          {mayOperate.value && <AddAlarm added={read.again} />}
        </div>
      </div>
    </div>
  );
}
