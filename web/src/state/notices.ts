// Toasts, for "copied" and undo only, and the one live region for what a screen reader should hear.

import { signal } from "@preact/signals";

export interface Toast {
  id: number;
  text: string;
  action?: { label: string; run: () => void };
}

export const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

export function toast(text: string, action?: Toast["action"], ms = action ? 10_000 : 2500): void {
  const id = ++lastId;
  toasts.value = [...toasts.value, action ? { id, text, action } : { id, text }];
  setTimeout(() => dismiss(id), ms);
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((t) => t.id !== id);
}

export const spoken = signal("");
let spokenAt = 0;
let pending: ReturnType<typeof setTimeout> | undefined;

// At most one message in five seconds; of those between, the last.
export function say(text: string): void {
  clearTimeout(pending);
  const wait = Math.max(spokenAt + 5000 - performance.now(), 0);
  pending = setTimeout(() => {
    spokenAt = performance.now();
    spoken.value = text;
  }, wait);
}

export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) await navigator.clipboard.writeText(text);
  else copyBySelection(text);
  toast("Copied");
}

// Where there is no navigator.clipboard: plain HTTP beyond loopback.
function copyBySelection(text: string): void {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "offscreen";
  const focused = document.activeElement as HTMLElement | null;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
  focused?.focus();
}

export function download(name: string, contents: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(contents);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
