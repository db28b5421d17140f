// The server's time. It may differ from the browser's, and with a virtual clock it stands still.

import { computed, signal } from "@preact/signals";

const offset = signal(0);
const still = signal<number | undefined>(undefined);
const tick = signal(Date.now());

export const virtualClock = signal(false);

// What the server said, in milliseconds since 1970.
export function serverSaid(ms: number): void {
  if (virtualClock.value) {
    if (still.value !== ms) still.value = ms;
    return;
  }
  const found = ms - Date.now();
  // Answers take a while to arrive: small differences are not news.
  if (Math.abs(found - offset.value) > 1500) offset.value = found;
}

export const now = computed(() =>
  virtualClock.value && still.value !== undefined ? still.value : tick.value + offset.value,
);

export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) tick.value = Date.now();
  }, 1000);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) tick.value = Date.now();
  });
}
