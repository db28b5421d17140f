// What a message has been through as one list: its sending, attempts and events in order, equal failures folded.

export interface AttemptLike {
  receivedAt: string;
  by?: string;
  durationMs?: number;
  end: string;
  errorType?: string;
  errorMessage?: string;
  stackTrace?: string;
  log?: string;
  code?: string;
  version?: string;
  shared?: boolean;
  company?: number;
}

export interface EventLike {
  at: string;
  what: string;
  from?: string;
  why?: string;
  actor?: string;
  reason?: string;
  job?: string;
}

export type LifeEntry<A extends AttemptLike, E extends EventLike> =
  | { kind: "sent"; at: string }
  | { kind: "attempts"; at: string; attempts: A[]; numbers: number[] }
  | { kind: "event"; at: string; event: E }
  | { kind: "gap"; at: string; count: number };

export function errorTitle(attempt: { errorType?: string; errorMessage?: string }): string {
  return [attempt.errorType, attempt.errorMessage].filter((t) => t).join(": ");
}

function sameEnd(a: AttemptLike, b: AttemptLike): boolean {
  return a.end === b.end && a.end !== "open" && errorTitle(a) === errorTitle(b) && a.by === b.by && a.code === b.code;
}

// `attemptsTotal` tells how many attempts there were: the first three and the last twenty are kept.
export function lifeOf<A extends AttemptLike, E extends EventLike>(
  sentAt: string,
  attempts: readonly A[],
  events: readonly E[],
  attemptsTotal: number,
): LifeEntry<A, E>[] {
  const missing = Math.max(attemptsTotal - attempts.length, 0);
  const numberOf = (i: number): number => (missing > 0 && i >= 3 ? i + 1 + missing : i + 1);
  const timed = [
    ...attempts.map((attempt, i) => ({ at: attempt.receivedAt, attempt, number: numberOf(i), event: undefined })),
    ...events.map((event) => ({ at: event.at, attempt: undefined, number: 0, event })),
  ];
  timed.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const entries: LifeEntry<A, E>[] = [{ kind: "sent", at: sentAt }];
  for (const item of timed) {
    if (item.event) entries.push({ kind: "event", at: item.at, event: item.event });
    else if (item.attempt) addAttempt(entries, item.attempt, item.number, missing);
  }
  return entries;
}

function addAttempt<A extends AttemptLike, E extends EventLike>(
  entries: LifeEntry<A, E>[],
  attempt: A,
  number: number,
  missing: number,
): void {
  if (missing > 0 && number === 4 + missing) entries.push({ kind: "gap", at: attempt.receivedAt, count: missing });
  const last = entries.at(-1);
  const before = last?.kind === "attempts" ? last.attempts.at(-1) : undefined;
  if (last?.kind === "attempts" && before && sameEnd(before, attempt)) {
    last.attempts.push(attempt);
    last.numbers.push(number);
    return;
  }
  entries.push({ kind: "attempts", at: attempt.receivedAt, attempts: [attempt], numbers: [number] });
}

// The attempt that tells most about why the message failed: the last with an error.
export function tellingAttempt<A extends AttemptLike>(attempts: readonly A[]): A | undefined {
  return attempts.findLast((a) => a.errorType || a.errorMessage || a.stackTrace);
}
