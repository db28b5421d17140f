// Waits between tries to reach the server again: 1 s, 2 s, 4 s … 15 s, each a little different so that many
// browsers do not come back together.

const kFirst = 1000;
const kMost = 15_000;

export function backoffMs(failures: number, random: () => number = Math.random): number {
  const base = Math.min(kFirst * 2 ** Math.max(failures - 1, 0), kMost);
  return Math.round(base * (0.75 + 0.25 * random()));
}
