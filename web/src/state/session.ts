// Who is signed in, and what the server lets them do. The server checks every request; this only decides which
// buttons are shown.

import { computed, signal } from "@preact/signals";
import { readSession, type SessionView } from "../api/additions";
import { ApiError, observer } from "../api/client";
import { virtualClock } from "./clock";
import { contact } from "./contact";

export const session = signal<SessionView | undefined>(undefined);
export const sessionError = signal<ApiError | undefined>(undefined);
// Signed in before, and not any more.
export const sessionOver = signal(false);
export const newVersion = signal<string | undefined>(undefined);

export function setSession(view: SessionView): void {
  const known = session.value?.version;
  if (known && view.version && known !== view.version) newVersion.value = view.version;
  session.value = view;
  virtualClock.value = view.virtualClock;
  sessionOver.value = false;
  sessionError.value = undefined;
}

export async function loadSession(): Promise<void> {
  try {
    setSession(await readSession());
  } catch (error) {
    if (error instanceof ApiError) sessionError.value = error;
    else throw error;
  }
}

export const mustSignIn = computed(
  () => session.value?.signedIn === false || (!session.value && isSignInError(sessionError.value)),
);

const kSignInCodes = new Set(["MissingAuthenticationToken", "SessionExpired", "NotSignedIn", "SessionRequired"]);
const isSignInError = (error: ApiError | undefined): boolean =>
  error !== undefined && (error.status === 401 || kSignInCodes.has(error.code));

observer.answered = (error) => {
  if (session.value && isSignInError(error)) sessionOver.value = true;
};

const kRank: Record<string, number> = { producer: 0, consumer: 0, reader: 1, operator: 2, admin: 3 };
const rank = computed(() => kRank[session.value?.role ?? "reader"] ?? 1);

export const mayOperate = computed(() => rank.value >= 2);
export const mayAdminister = computed(() => rank.value >= 3);
export const isReader = computed(() => session.value !== undefined && rank.value < 2);

function fits(pattern: string, name: string): boolean {
  const expression = pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${expression}$`).test(name);
}

// Why the buttons for this queue do nothing for this person; undefined when they may act.
export function whyNot(queue: string): string | undefined {
  if (!mayOperate.value) return "Your key may look, not act.";
  if (contact.value.lostAt !== undefined) return "No contact with the server.";
  const patterns = session.value?.queues ?? [];
  if (patterns.length === 0 || patterns.some((p) => fits(p, queue))) return undefined;
  return `Your key is for ${patterns.join(", ")}.`;
}
