// Finds names by letters in order, the way people abbreviate them. Fast enough for 5,000 names at each keystroke.

export interface FuzzyHit<T> {
  item: T;
  score: number;
  positions: number[];
}

const isBoundary = (text: string, i: number): boolean => i === 0 || /[^a-z0-9]/i.test(text[i - 1] ?? "");

// Higher is better; undefined when the letters are not there in this order.
export function fuzzyScore(needle: string, text: string): { score: number; positions: number[] } | undefined {
  const wanted = needle.toLowerCase();
  const lower = text.toLowerCase();
  const whole = lower.indexOf(wanted);
  if (whole >= 0) {
    const positions = Array.from(wanted, (_, i) => whole + i);
    return { score: 1000 + (isBoundary(text, whole) ? 200 : 0) - whole - text.length / 10, positions };
  }
  const positions: number[] = [];
  let score = 0;
  let at = 0;
  for (const c of wanted) {
    const found = lower.indexOf(c, at);
    if (found < 0) return undefined;
    score += found === at && at > 0 ? 12 : isBoundary(text, found) ? 10 : 1;
    positions.push(found);
    at = found + 1;
  }
  return { score: score - text.length / 10, positions };
}

export function fuzzyFind<T>(needle: string, items: readonly T[], text: (item: T) => string, max = 50): FuzzyHit<T>[] {
  const words = needle.trim();
  if (words === "") return items.slice(0, max).map((item) => ({ item, score: 0, positions: [] }));
  const hits: FuzzyHit<T>[] = [];
  for (const item of items) {
    const found = fuzzyScore(words, text(item));
    if (found) hits.push({ item, ...found });
  }
  hits.sort((a, b) => b.score - a.score);
  return hits.slice(0, max);
}
