// When a dead-letter queue's policy redrives a message, and when a mapping's retry policy runs it again.

export interface PolicyLike {
  maxRedrives?: number;
  redriveAfterSeconds?: number;
  backoffRate?: number;
  maxRedriveAfterSeconds?: number;
}

export interface RetryPoint {
  number: number;
  afterSeconds: number; // Since the point before.
  atSeconds: number; // Since the first failure.
}

export function policyPoints(policy: PolicyLike, most = 8): RetryPoint[] {
  const first = policy.redriveAfterSeconds ?? 0;
  if (first <= 0) return [];
  const count = policy.maxRedrives && policy.maxRedrives > 0 ? Math.min(policy.maxRedrives, most) : most;
  return backoffPoints(first, policy.backoffRate ?? 2, policy.maxRedriveAfterSeconds ?? 43_200, count);
}

export function backoffPoints(first: number, rate: number, longest: number, count: number): RetryPoint[] {
  const points: RetryPoint[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    const after = Math.min(first * rate ** i, longest);
    at += after;
    points.push({ number: i + 1, afterSeconds: after, atSeconds: at });
  }
  return points;
}

export interface RetrierLike {
  ErrorEquals: string[];
  IntervalSeconds?: number;
  MaxAttempts?: number;
  BackoffRate?: number;
  MaxDelaySeconds?: number;
}

// As the States Language has it.
export function retrierPoints(retrier: RetrierLike, most = 10): RetryPoint[] {
  const count = Math.min(retrier.MaxAttempts ?? 3, most);
  return backoffPoints(
    retrier.IntervalSeconds ?? 1,
    retrier.BackoffRate ?? 2,
    retrier.MaxDelaySeconds ?? 43_200,
    count,
  );
}

// Positions between 0 and 1 on a line on which near and far points can both be seen.
export function spread(points: readonly RetryPoint[]): number[] {
  const last = points.at(-1)?.atSeconds ?? 0;
  const most = Math.log1p(last);
  return points.map((p) => (most === 0 ? 0 : Math.log1p(p.atSeconds) / most));
}
