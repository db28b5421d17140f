// What is sent, what becomes of it, and the book in which every delivery is counted.
// ../plan.py is the same plan for the clients in Python.
import assert from 'node:assert/strict';

export const maxReceives = 2;
// How often a message with that fate is delivered, if nothing is lost or doubled.
const deliveries = { ok: 1, slow: 1, flaky: 2, poison: maxReceives };

export function standardFate(n) {
  if (n % 200 === 2) return 'slow';
  return { 0: 'poison', 1: 'flaky' }[n % 40] ?? 'ok';
}

const groups = 10;

export function groupOf(n) {
  return `group-${n % groups}`;
}

export function fifoFate(n) {
  const place = Math.floor(n / groups);
  if (place === 3 && n % 2 === 0) return 'poison';
  return place === 6 ? 'flaky' : 'ok';
}

export function fates(count, fateOf) {
  return new Map(Array.from({ length: count }, (_, n) => [n, fateOf(n)]));
}

export function poisonOf(plan) {
  return [...plan].filter(([, fate]) => fate === 'poison').map(([n]) => n);
}

function add(counts, n) {
  counts.set(n, (counts.get(n) ?? 0) + 1);
  return counts.get(n);
}

// Lists what differs only, so that a failure names the messages and not all of them.
function assertSame(seen, expected, what) {
  const numbers = [...new Set([...seen.keys(), ...expected.keys()])];
  const different = numbers
    .filter((n) => (seen.get(n) ?? 0) !== (expected.get(n) ?? 0))
    .map((n) => ({ n, seen: seen.get(n) ?? 0, expected: expected.get(n) ?? 0 }));
  assert.deepEqual(different, [], what);
}

export class Book {
  #delivered = new Map();
  #done = new Map();
  #order = [];

  constructor(plan) {
    this.plan = plan;
  }

  // Notes one more delivery and says whether the work succeeds this time.
  deliver(n, receiveCount) {
    const attempt = add(this.#delivered, n);
    this.#order.push(n);
    assert.equal(Number(receiveCount), attempt, `ApproximateReceiveCount of ${n}`);
    const fate = this.plan.get(n);
    return fate !== 'poison' && (fate !== 'flaky' || attempt === deliveries.flaky);
  }

  succeed(n) {
    add(this.#done, n);
  }

  check() {
    const expected = [...this.plan].map(([n, fate]) => [n, deliveries[fate]]);
    assertSame(this.#delivered, new Map(expected), 'deliveries');
    const done = [...this.plan].filter(([, fate]) => fate !== 'poison').map(([n]) => [n, 1]);
    assertSame(this.#done, new Map(done), 'successes');
  }

  // Within its group a message is delivered again and again until it is out of the way.
  checkOrder() {
    const expected = [...this.plan].flatMap(([n, fate]) => Array(deliveries[fate]).fill(n));
    for (let group = 0; group < groups; ++group) {
      const ofGroup = (n) => n % groups === group;
      assert.deepEqual(this.#order.filter(ofGroup), expected.filter(ofGroup), groupOf(group));
    }
  }
}
