// What is shown of a job, in the drawer and on its page.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type JobMessage, jobMessages } from "../../api/additions";
import { cancelJob, changeJobRate, markGroup, pauseJob, resumeJob } from "../../api/manage";
import type { Job } from "../../api/types.gen";
import { countText, nameOfArn, nounText, percentText, shortId } from "../../model/format";
import { errorTitle } from "../../model/life";
import { links } from "../../model/routes";
import { absoluteText, parseTime } from "../../model/time";
import { now } from "../../state/clock";
import { useResource, useTask } from "../../state/resource";
import { whyNot } from "../../state/session";
import { groupKey, groups, groupTitle, isOver, noteGroup, noteJob } from "../../state/store";
import { Dialog } from "../../ui/overlay";
import { ErrorNote, Others, Section, TimeText } from "../../ui/parts";
import { OutcomeBar, OutcomeCounts, Receipt, Stages } from "../../ui/progress";

// The selection of a job as a sentence.
export function jobSentence(job: Job): string {
  const parts: string[] = [];
  if (job.group) parts.push(groupTitle(job.queue, job.group) ?? `group ${shortId(job.group)}`);
  if (job.filter) parts.push(job.filter);
  if (parts.length === 0) parts.push(`everything in ${job.queue}`);
  if (job.limit) parts.push(`at most ${countText(job.limit)}`);
  return parts.join(" · ");
}

export function JobProgress({ job }: { job: Job }): JSX.Element {
  const to = job.destination ? nameOfArn(job.destination) : "the queues they came from";
  const staged = (job.canary?.length ?? 0) > 0;
  return (
    <section class="section">
      <header>
        <h2>
          <Others text={jobSentence(job)} />
        </h2>
        <div class="aside">
          <span>
            to <Others text={to} />
            {job.rate ? ` · ${countText(job.rate)}/s` : ""}
          </span>
        </div>
      </header>
      <div class="pad stack">
        {job.status === "halted" && (
          <p class="warning-note">
            ⚠ <Others text={job.note ?? "Halted."} />
          </p>
        )}
        {job.status !== "halted" && job.note && (
          <p class="muted">
            <Others text={job.note} />
          </p>
        )}
        {staged ? <Stages job={job} /> : null}
        <OutcomeBar job={job} />
        {!isOver(job) && (
          <p class="muted">
            Halts by itself when more than {job.maxFailurePercent} % fail again
            {staged ? ` or nothing is known for ${job.watchSeconds} s` : ""}.
          </p>
        )}
      </div>
      <OutcomeCounts job={job} />
    </section>
  );
}

// Rates on a logarithmic scale; the end stands for "as fast as it goes".
const kRates = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 0];

function RateSlider({ job }: { job: Job }): JSX.Element {
  const task = useTask();
  const index = kRates.indexOf(kRates.find((r) => r >= (job.rate ?? 0) && r > 0) ?? 0);
  const [at, setAt] = useState(job.rate ? index : kRates.length - 1);
  const rate = kRates[at] ?? 0;
  const apply = (): Promise<void> => task.run(async () => noteJob(await changeJobRate(job.id, rate)));
  return (
    <label class="field">
      <span class="label">Rate: {rate === 0 ? "as fast as it goes" : `${countText(rate)} a second`}</span>
      <input
        type="range"
        min={0}
        max={kRates.length - 1}
        value={at}
        onInput={(e) => setAt(Number(e.currentTarget.value))}
        onChange={() => void apply()}
      />
      {task.error && <ErrorNote error={task.error} />}
    </label>
  );
}

export function JobControls({ job }: { job: Job }): JSX.Element | null {
  const task = useTask();
  const [asking, setAsking] = useState(false);
  if (isOver(job)) return null;
  const refusal = whyNot(job.queue);
  const act = (work: (id: string) => Promise<Job>): Promise<void> => task.run(async () => noteJob(await work(job.id)));
  const off = task.running || refusal !== undefined;
  return (
    <>
      {task.error && <ErrorNote error={task.error} />}
      {job.status === "running" && (
        <button type="button" disabled={off} title={refusal} onClick={() => void act(pauseJob)}>
          Pause
        </button>
      )}
      {job.status === "paused" && (
        <button type="button" class="primary" disabled={off} title={refusal} onClick={() => void act(resumeJob)}>
          Resume
        </button>
      )}
      {job.status === "halted" && (
        <button type="button" disabled={off} title={refusal} onClick={() => void act(resumeJob)}>
          Go on anyway
        </button>
      )}
      <button type="button" class="danger" disabled={off} title={refusal} onClick={() => setAsking(true)}>
        Cancel job…
      </button>
      {asking && (
        <Dialog title="Cancel this job?" close={() => setAsking(false)}>
          <p>
            {nounText(job.moved, "message has", "messages have")} moved and stay{job.moved === 1 ? "s" : ""} moved.{" "}
            {nounText(Math.max(job.toMove - job.moved, 0), "message stays", "messages stay")} in {job.queue}.
          </p>
          <div class="bar">
            <button type="button" onClick={() => setAsking(false)}>
              Let it run
            </button>
            <button
              type="button"
              class="danger-solid"
              onClick={() => {
                setAsking(false);
                void act(cancelJob);
              }}
            >
              Cancel job
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

export function JobRate({ job }: { job: Job }): JSX.Element | null {
  if (isOver(job) || whyNot(job.queue)) return null;
  return (
    <div class="pad">
      <RateSlider job={job} />
    </div>
  );
}

export function receiptSentence(job: Job): string {
  const parts = [
    `${countText(job.moved)} redriven`,
    `${countText(job.succeeded)} processed`,
    `${countText(job.failedAgain)} failed again`,
  ];
  if (job.gone > 0) parts.push(`${countText(job.gone)} gone`);
  if (job.open > 0) parts.push(`${countText(job.open)} open`);
  return parts.join(", ");
}

export function receiptText(job: Job, at: number): string {
  const time = parseTime(job.endedAt) ?? at;
  const lines = [
    `${receiptSentence(job)}${job.actor ? `, by ${job.actor}` : ""}, ${absoluteText(time, 0, true)}`,
    `From: ${job.queue} · ${jobSentence(job)}`,
    `To: ${job.destination ? nameOfArn(job.destination) : "the queues they came from"}`,
  ];
  if (job.reason) lines.push(`Reason: ${job.reason}`);
  if (job.canary?.length) lines.push(`Canary: ${job.canary.join(", ")}, all; halts above ${job.maxFailurePercent} %`);
  if (job.note) lines.push(`Note: ${job.note}`);
  lines.push(`Job: ${job.id} · ${location.origin}${links.job(job.id)}`);
  return lines.join("\n");
}

// All were processed: the group can be called resolved, and will be regressed if a message comes into it again.
function Resolve({ queue, group }: { queue: string; group: string }): JSX.Element | null {
  const task = useTask();
  const status = groups.value.get(groupKey(queue, group))?.status;
  const resolve = (): Promise<void> =>
    task.run(async () => noteGroup({ ...(await markGroup(queue, group, { status: "resolved" })), queue }));
  if (status === "resolved")
    return <p class="muted">The group is resolved; if one comes back, it will be regressed.</p>;
  if (whyNot(queue) !== undefined) return null;
  return (
    <div class="bar">
      <button type="button" disabled={task.running} onClick={() => void resolve()}>
        Mark the group resolved
      </button>
      {task.error && <ErrorNote error={task.error} />}
    </div>
  );
}

export function JobReceipt({ job }: { job: Job }): JSX.Element | null {
  if (!isOver(job)) return null;
  const all = job.succeeded === job.moved && job.moved > 0;
  return (
    <section class="section">
      <header>
        <h2>Receipt</h2>
        <div class="aside">
          <span>
            {job.actor && `by ${job.actor} · `}
            <TimeText at={job.endedAt} style="clock" />
          </span>
        </div>
      </header>
      <div class="pad">
        <Receipt sentence={`${receiptSentence(job)}.`} text={receiptText(job, now.value)}>
          {job.open > 0 && (
            <p class="muted">
              The outcome of {nounText(job.open, "message")} is not known yet; the counts go on (
              {percentText(job.moved - job.open, job.moved)} known).
            </p>
          )}
          {all && job.open === 0 && job.group && <Resolve queue={job.queue} group={job.group} />}
        </Receipt>
      </div>
    </section>
  );
}

export function ErrorColumn({
  title,
  error,
}: {
  title: string;
  error: { type?: string; message?: string; stackTrace?: string } | undefined;
}): JSX.Element {
  const text = error ? errorTitle({ errorType: error.type ?? "", errorMessage: error.message ?? "" }) : "";
  return (
    <div>
      <h3>{title}</h3>
      <pre>
        {text || error?.stackTrace ? (
          <>
            <Others text={text} multiline />
            {error?.stackTrace && (
              <>
                {"\n\n"}
                <Others text={error.stackTrace} multiline />
              </>
            )}
          </>
        ) : (
          <span class="faint">no error recorded</span>
        )}
      </pre>
    </div>
  );
}

// Which failed again, with the errors before and after.
export function FailedAgain({ job }: { job: Job }): JSX.Element | null {
  const [open, setOpen] = useState<string | undefined>(undefined);
  const found = useResource(
    job.failedAgain > 0 ? `job ${job.id} again` : undefined,
    () => jobMessages(job, "failed-again"),
    job.failedAgain,
  );
  const rows = found.value?.messages ?? [];
  useEffect(() => {
    if (open === undefined && rows[0]) setOpen(rows[0].messageId);
  }, [rows.length]);
  if (job.failedAgain === 0) return null;
  return (
    <Section title="Failed again" aside={nounText(job.failedAgain, "message")}>
      {found.error && <ErrorNote error={found.error} again={found.again} />}
      <ul class="again-list">
        {rows.slice(0, 50).map((m: JobMessage) => (
          <li>
            <button
              type="button"
              class="link mono"
              aria-expanded={open === m.messageId}
              onClick={() => setOpen(m.messageId)}
            >
              {shortId(m.messageId)}
            </button>{" "}
            <span>
              <Others
                text={errorTitle({
                  errorType: m.after?.type ?? m.errorType ?? "",
                  errorMessage: m.after?.message ?? m.errorMessage ?? "",
                })}
              />
            </span>
            {m.key !== undefined && (
              <a class="open" href={links.message(m.queue, m.key)}>
                Open
              </a>
            )}
            {open === m.messageId && (
              <div class="two-errors">
                <ErrorColumn title="Before the redrive" error={m.before} />
                <ErrorColumn title="After it" error={m.after} />
              </div>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}
