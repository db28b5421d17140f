// A redrive job while it runs and afterwards: stages, outcome, receipt.

import type { ComponentChildren, JSX } from "preact";
import { countText, nounText } from "../model/format";
import { environment } from "./environment";
import { Icon, Others } from "./parts";

export interface JobLike {
  status: string;
  canary?: number[];
  stage: number;
  toMove: number;
  moved: number;
  succeeded: number;
  failedAgain: number;
  gone: number;
  open: number;
  maxFailurePercent: number;
}

export interface StageView {
  size: number;
  state: "done" | "now" | "halted" | "waits";
  label: string;
  detail: string;
  processed: number; // Shares of the stage, for its bar.
  again: number;
  open: number;
}

// The stages of a canary, and what of the job's counts belongs to each: outcomes come in order, as far as known.
export function stagesOf(job: JobLike): StageView[] {
  const sizes: number[] = [];
  let rest = job.toMove;
  for (const size of job.canary ?? []) {
    const take = Math.min(size, rest);
    if (take > 0) sizes.push(take);
    rest -= take;
  }
  if (rest > 0 || sizes.length === 0) sizes.push(rest);
  let before = 0;
  return sizes.map((size, i) => {
    const share = (n: number): number => Math.min(Math.max(n - before, 0), size);
    const moved = share(job.moved);
    const settled = Math.max(share(job.moved - job.open), 0);
    const last = i === sizes.length - 1 && sizes.length > 1;
    const isDone = moved === size && (settled === size || i < job.stage);
    const stands = job.status === "halted" && !isDone && i <= job.stage;
    const begun = moved > 0 || i === job.stage;
    const over = job.status === "completed" || job.status === "cancelled" || job.status === "failed";
    const state = isDone ? "done" : stands && begun ? "halted" : begun && !over ? "now" : "waits";
    before += size;
    return {
      size,
      state,
      label: last ? `the other ${countText(size)}` : nounText(size, "message"),
      detail: stageDetail(state, size, moved, settled, job.failedAgain + job.gone === 0),
      processed: settled,
      again: 0,
      open: moved - settled,
    };
  });
}

function stageDetail(state: StageView["state"], size: number, moved: number, settled: number, well: boolean): string {
  if (state === "done") return well && settled === size ? `${countText(size)} processed` : "done";
  if (state === "waits" && moved === 0) return "waits";
  return `${countText(settled)} of ${countText(size)} known`;
}

export function Stages({ job }: { job: JobLike }): JSX.Element {
  return (
    <ol class="stages" aria-label="Stages">
      {stagesOf(job).map((stage, i) => (
        <li class={`stage ${stage.state}`}>
          <span class="dot" aria-hidden="true">
            {stage.state === "done" ? "✓" : stage.state === "halted" ? "!" : i + 1}
          </span>
          <span>{stage.label}</span>
          {stage.state === "waits" ? <span class="faint">{stage.detail}</span> : <b>{stage.detail}</b>}
          {stage.state !== "waits" && stage.state !== "done" && (
            <div class="track">
              <i class="ok" style={{ width: `${(100 * stage.processed) / Math.max(stage.size, 1)}%` }} />
              <i class="busy" style={{ width: `${(100 * stage.open) / Math.max(stage.size, 1)}%` }} />
            </div>
          )}
        </li>
      ))}
    </ol>
  );
}

export function OutcomeBar({ job }: { job: JobLike }): JSX.Element {
  const all = Math.max(job.toMove, job.moved, 1);
  const share = (n: number): string => `${(100 * n) / all}%`;
  const text = outcomeText(job);
  return (
    <div class="track" role="img" aria-label={text} title={text}>
      <i class="ok" style={{ width: share(job.succeeded) }} />
      <i class="dead" style={{ width: share(job.failedAgain) }} />
      <i class="gone" style={{ width: share(job.gone) }} />
      <i class="busy" style={{ width: share(job.open) }} />
    </div>
  );
}

export function outcomeText(job: JobLike): string {
  const parts = [
    `${countText(job.moved)} of ${countText(job.toMove)} moved`,
    `${countText(job.succeeded)} processed`,
    `${countText(job.failedAgain)} failed again`,
  ];
  if (job.gone > 0) parts.push(`${countText(job.gone)} gone`);
  parts.push(`${countText(job.open)} open`);
  return parts.join(", ");
}

export function OutcomeCounts({ job, href }: { job: JobLike; href?: (outcome: string) => string }): JSX.Element {
  const cell = (name: string, word: string, n: number): ComponentChildren => (
    <div class={name}>
      {href && n > 0 ? (
        <a href={href(name)}>
          <b>{countText(n)}</b>
          {word}
        </a>
      ) : (
        <>
          <b>{countText(n)}</b>
          {word}
        </>
      )}
    </div>
  );
  return (
    <div class="outcome">
      {cell("moved", "moved", job.moved)}
      {cell("processed", "processed", job.succeeded)}
      {cell(job.failedAgain > 0 ? "again" : "none", "failed again", job.failedAgain)}
      {job.gone > 0 && cell("gone", "gone", job.gone)}
      {cell("open", "open", job.open)}
    </div>
  );
}

export function Receipt({
  sentence,
  text,
  children,
}: {
  sentence: string;
  text: string;
  children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="receipt">
      <p class="sentence">
        <Others text={sentence} />
      </p>
      {children}
      <div class="bar">
        <button type="button" onClick={() => environment.copy(text)}>
          <Icon name="copy" /> Copy for the incident
        </button>
      </div>
    </div>
  );
}
