// Whether the server answers.

import { signal } from "@preact/signals";

export interface Contact {
  lostAt: number | undefined; // By the browser's clock; undefined while there is contact.
  retryAt: number; // Of performance.now().
  back: string | undefined; // What to say after contact came back.
}

export const contact = signal<Contact>({ lostAt: undefined, retryAt: 0, back: undefined });

export function lostContact(retryAt: number): void {
  contact.value = { lostAt: contact.value.lostAt ?? Date.now(), retryAt, back: undefined };
}

// True when contact had been lost.
export function regainedContact(): boolean {
  const { lostAt } = contact.value;
  if (lostAt === undefined) return false;
  const away = Date.now() - lostAt;
  const back = away > 3000 ? `Back after ${Math.round(away / 1000)} s.` : undefined;
  contact.value = { lostAt: undefined, retryAt: 0, back };
  if (back) setTimeout(() => (contact.value = { ...contact.value, back: undefined }), 8000);
  return true;
}
