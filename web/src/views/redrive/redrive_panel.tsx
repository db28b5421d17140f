// Sending dead letters back: what, where to, how fast; counted as one types. After the start the panel shows the job.

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { type DryRun, type JobBody, startJob } from "../../api/additions";
import { type RedrivePlan, redriveCommand } from "../../model/command_line";
import { countText, nameOfArn, nounText } from "../../model/format";
import { type Selection, selectionMembers, selectionParts } from "../../model/selection";
import { durationText } from "../../model/time";
import { asApiError, useTask } from "../../state/resource";
import { whyNot } from "../../state/session";
import { groupKey, groups, noteJob, queueNames } from "../../state/store";
import { Drawer } from "../../ui/overlay";
import { CommandLine, ErrorNote, Field, Others } from "../../ui/parts";
import { ConsumerNote } from "./consumer_note";
import { closePanel, panel } from "./redrive_state";

type How = "all" | "rate" | "canary";
const kStages = [1, 10, 100];

interface Choices {
  destination: string;
  how: How;
  rate: number;
  percent: number;
  reason: string;
  includeParked: boolean;
}

function planOf(c: Choices, patch: string | undefined): RedrivePlan {
  return {
    ...(c.destination.trim() ? { destination: c.destination.trim() } : {}),
    ...(c.how === "rate" ? { rate: c.rate } : {}),
    ...(c.how === "canary" ? { canary: kStages } : {}),
    ...(c.percent !== 10 && c.how === "canary" ? { maxFailurePercent: c.percent } : {}),
    ...(c.reason.trim() ? { reason: c.reason.trim() } : {}),
    ...(c.includeParked ? { includeParked: true } : {}),
    ...(patch ? { patch } : {}),
  };
}

function bodyOf(selection: Selection, plan: RedrivePlan): JobBody {
  const { canary, ...rest } = plan;
  return { ...selectionMembers(selection), ...rest, ...(canary ? { canary: [...canary] } : {}) };
}

// Counts what a job would take, 300 ms after the last change.
function useDryRun(
  selection: Selection,
  body: JobBody,
): { run: DryRun | undefined; error: ReturnType<typeof asApiError> | undefined } {
  const [run, setRun] = useState<DryRun | undefined>(undefined);
  const [error, setError] = useState<ReturnType<typeof asApiError> | undefined>(undefined);
  const { reason: _reason, ...counted } = body;
  const key = JSON.stringify([selection.queue, counted]);
  const [first, setFirst] = useState(true);
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(
      () => {
        setFirst(false);
        startJob(selection.queue, { ...counted, dryRun: true }, abort.signal).then(
          (answer) => {
            setRun(answer.dryRun);
            setError(undefined);
          },
          (caught) => {
            if (!abort.signal.aborted) setError(asApiError(caught));
          },
        );
      },
      first ? 0 : 250,
    );
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [key]);
  return { run, error };
}

function DryRunView({ run, plan }: { run: DryRun; plan: RedrivePlan }): JSX.Element {
  const seconds = plan.rate ? run.matched / plan.rate : undefined;
  const partial = run.scanned < run.candidates;
  return (
    <div class="stack">
      <p class="dry-run">
        <b>{countText(run.matched)}</b> will move
        {partial &&
          ` (matched ${countText(run.matched)} of ${countText(run.scanned)} looked at; ${countText(run.candidates)} in all)`}
        {seconds !== undefined && seconds > 1 && `, in about ${durationText(seconds * 1000)}`}
      </p>
      {run.byDestination && run.byDestination.length > 0 && (
        <ul class="destinations">
          {run.byDestination.map((d) => (
            <li>
              <Others text={nameOfArn(d.queue)} /> <b>{countText(d.messages)}</b>
            </li>
          ))}
        </ul>
      )}
      {(run.parked ?? 0) > 0 && (
        <p class="muted">
          {nounText(run.parked ?? 0, "message")} parked: they have had all redrives that the policy allows.
        </p>
      )}
      {(run.held ?? 0) > 0 && <p class="muted">{nounText(run.held ?? 0, "message")} held by a consumer: they stay.</p>}
      {(run.redrivenBefore ?? 0) > 0 && (
        <p class="warning-note">⚠ {nounText(run.redrivenBefore ?? 0, "message")} redriven before, and failed again.</p>
      )}
      {run.patch && (
        <p class={run.patch.not > 0 ? "warning-note" : "muted"}>
          The patch fits {countText(run.patch.fits)}
          {run.patch.not > 0 &&
            `, does not fit ${countText(run.patch.not)}: ${run.patch.not === 1 ? "it stays" : "they stay"}`}
          .
        </p>
      )}
    </div>
  );
}

export function RedrivePanel(props: {
  selection: Selection;
  count: number | undefined;
  messageIds?: string[] | undefined;
  reason?: string | undefined;
  patch?: string | undefined;
}): JSX.Element {
  const { selection, patch } = props;
  const note = selection.group ? groups.value.get(groupKey(selection.queue, selection.group))?.note : undefined;
  const [choices, setChoices] = useState<Choices>({
    destination: "",
    how: "canary",
    rate: 10,
    percent: 10,
    reason: props.reason ?? note ?? "",
    includeParked: false,
  });
  const set = (part: Partial<Choices>): void => setChoices((c) => ({ ...c, ...part }));
  const plan = planOf(choices, patch);
  const body = useMemo(() => bodyOf(selection, plan), [selection, JSON.stringify(plan)]);
  const { run, error } = useDryRun(selection, body);
  const task = useTask();
  const start = (): Promise<void> =>
    task.run(async () => {
      const answer = await startJob(selection.queue, body);
      if (!answer.job) return;
      noteJob(answer.job);
      panel.value = { kind: "job", job: answer.job.id };
    });

  const sources = run?.byDestination?.map((d) => nameOfArn(d.queue));
  const group = selection.group ? groups.value.get(groupKey(selection.queue, selection.group)) : undefined;
  const targets = choices.destination ? [choices.destination] : (sources ?? group?.sources ?? []);
  const matched = run?.matched ?? props.count ?? 0;
  const first = choices.how === "canary" ? `, first ${countText(Math.min(kStages[0] ?? 1, matched))}` : "";
  const refusal = whyNot(selection.queue);
  const label = matched === 0 && run ? "Nothing to redrive" : `Redrive ${countText(matched)}${first}`;
  return (
    <Drawer
      title={patch ? "Patch and redrive" : "Redrive"}
      label="Redrive"
      close={closePanel}
      footer={
        <>
          {task.error && <ErrorNote error={task.error} />}
          <div class="bar">
            <button
              type="button"
              class="primary"
              data-autofocus
              disabled={task.running || refusal !== undefined || (run !== undefined && matched === 0)}
              onClick={() => void start()}
            >
              {label}
            </button>
            {refusal && <span class="muted">{refusal}</span>}
          </div>
        </>
      }
    >
      <p class="sentence-of-selection">
        <Others text={selectionParts(selection, props.count).join(" · ")} />
      </p>
      {error ? (
        <ErrorNote error={error} />
      ) : run ? (
        <DryRunView run={run} plan={plan} />
      ) : (
        <p class="faint">Counting…</p>
      )}
      <Field label="Destination" note={choices.destination ? undefined : "Empty: each to the queue it came from."}>
        <input
          list="redrive-queues"
          value={choices.destination}
          placeholder={targets.length > 0 ? targets.join(", ") : "each to its source"}
          autocomplete="off"
          onInput={(e) => set({ destination: e.currentTarget.value })}
        />
        <datalist id="redrive-queues">
          {queueNames.value.map((name) => (
            <option value={name} />
          ))}
        </datalist>
      </Field>
      {targets.slice(0, 3).map((queue) => (
        <ConsumerNote queue={queue} />
      ))}
      <fieldset class="plain-set">
        <legend>How</legend>
        <label class="choice">
          <input type="radio" name="how" checked={choices.how === "canary"} onChange={() => set({ how: "canary" })} />
          Canary: 1, then 10, then 100, then all
        </label>
        {choices.how === "canary" && (
          <label class="choice indented">
            Halt above
            <input
              type="number"
              min={0}
              max={100}
              value={choices.percent}
              onInput={(e) => set({ percent: Number(e.currentTarget.value) })}
            />
            % failed again
          </label>
        )}
        <label class="choice">
          <input type="radio" name="how" checked={choices.how === "rate"} onChange={() => set({ how: "rate" })} />
          At
          <input
            type="number"
            min={1}
            value={choices.rate}
            aria-label="Messages a second"
            onFocus={() => set({ how: "rate" })}
            onInput={(e) => set({ how: "rate", rate: Math.max(1, Number(e.currentTarget.value)) })}
          />
          a second
        </label>
        <label class="choice">
          <input type="radio" name="how" checked={choices.how === "all"} onChange={() => set({ how: "all" })} />
          All at once
        </label>
      </fieldset>
      {(run?.parked ?? 0) > 0 && (
        <label class="choice">
          <input
            type="checkbox"
            checked={choices.includeParked}
            onChange={(e) => set({ includeParked: e.currentTarget.checked })}
          />
          Parked ones too
        </label>
      )}
      <Field label="Reason" note="Stands in each message's history.">
        <input
          value={choices.reason}
          placeholder="fixed in 1.4.2"
          onInput={(e) => set({ reason: e.currentTarget.value })}
        />
      </Field>
      <CommandLine free command={redriveCommand(selection, plan, props.messageIds)} />
    </Drawer>
  );
}
