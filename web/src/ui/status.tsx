// States as word, shape and colour together.

import type { JSX } from "preact";

interface Look {
  class: string;
  shape: string;
  word: string;
}

const kGroup: Record<string, Look> = {
  new: { class: "solid-dead", shape: "!", word: "new" },
  regressed: { class: "solid-warn", shape: "↺", word: "regressed" },
  known: { class: "outline", shape: "", word: "known" },
  ignored: { class: "faint", shape: "", word: "ignored" },
  resolved: { class: "ok", shape: "✓", word: "resolved" },
};

const kJob: Record<string, Look> = {
  running: { class: "busy", shape: "▸", word: "running" },
  paused: { class: "wait", shape: "‖", word: "paused" },
  halted: { class: "solid-warn", shape: "⚠", word: "halted" },
  completed: { class: "ok", shape: "✓", word: "completed" },
  cancelled: { class: "faint", shape: "", word: "cancelled" },
  failed: { class: "solid-dead", shape: "✕", word: "failed" },
};

const kAlarm: Record<string, Look> = {
  ALARM: { class: "solid-dead", shape: "!", word: "alarm" },
  OK: { class: "ok", shape: "✓", word: "ok" },
  INSUFFICIENT_DATA: { class: "faint", shape: "", word: "no data" },
};

const kMessage: Record<string, Look> = {
  visible: { class: "faint", shape: "○", word: "visible" },
  "in-flight": { class: "busy", shape: "◐", word: "in flight" },
  delayed: { class: "wait", shape: "◷", word: "delayed" },
  dead: { class: "dead", shape: "●", word: "dead letter" },
  parked: { class: "wait", shape: "‖", word: "parked" },
  again: { class: "dead", shape: "✕", word: "failed again" },
  processed: { class: "ok", shape: "✓", word: "processed" },
};

const kSeverity: Record<string, Look> = {
  problem: { class: "solid-dead", shape: "!", word: "problem" },
  warning: { class: "warn", shape: "⚠", word: "warning" },
  advice: { class: "outline", shape: "", word: "advice" },
};

const kKinds = { group: kGroup, job: kJob, alarm: kAlarm, severity: kSeverity, message: kMessage };

export function StatusBadge({ kind, state }: { kind: keyof typeof kKinds; state: string }): JSX.Element {
  const look = kKinds[kind][state] ?? { class: "outline", shape: "", word: state };
  return (
    <span class={`badge ${look.class}`}>
      {look.shape && <span aria-hidden="true">{look.shape}</span>}
      {look.word}
    </span>
  );
}

export interface MessageLike {
  state: string;
  failedAgain?: boolean;
  parked?: boolean;
  deadLetterSource?: string;
}

// A dead letter is dead before it is visible.
export function stateOfMessage(message: MessageLike): string {
  if (message.state !== "visible") return message.state;
  if (message.failedAgain) return "again";
  if (message.parked) return "parked";
  return message.deadLetterSource ? "dead" : "visible";
}

export function MessageMark({ message }: { message: MessageLike }): JSX.Element {
  const look = kMessage[stateOfMessage(message)] ?? { class: "faint", shape: "○", word: message.state };
  return (
    <span class={`state-mark ${look.class}`}>
      <i aria-hidden="true">{look.shape}</i>
      {look.word}
    </span>
  );
}
