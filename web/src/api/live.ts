// News from the server: one long poll for each browser. The tab that holds a lock asks and tells the others through
// a channel; where there are no locks (plain HTTP beyond loopback) each visible tab asks by itself and holds no
// connection. Hidden tabs ask nothing.

import { backoffMs } from "../model/backoff";
import { type Changes, readChanges, type Topic } from "./additions";
import { ApiError } from "./client";

export interface LiveListener {
  changes: (changes: Changes) => void;
  // `retryAt` is a time of performance.now().
  contact: (state: { lost: true; retryAt: number } | { lost: false }) => void;
}

const kWaitSeconds = 20;
const kPauseMs = 2000;
const kTopics: readonly Topic[] = ["queues", "groups", "jobs", "alarms", "handlers"];
const kChannel = "redrive-changes";

export class Live {
  private cursor: string | undefined;
  private failures = 0;
  private wake: (() => void) | undefined;
  private ended = false;
  private abort = new AbortController();
  private readonly channel: BroadcastChannel | undefined;
  paused = false;

  constructor(private readonly listener: LiveListener) {
    const shared = typeof navigator !== "undefined" && "locks" in navigator && typeof BroadcastChannel !== "undefined";
    this.channel = shared ? new BroadcastChannel(kChannel) : undefined;
  }

  start(): void {
    this.channel?.addEventListener("message", (event: MessageEvent<Changes>) => {
      // Changes are of use only to a tab that has read everything before.
      if (this.cursor === undefined && !event.data.reset) return;
      this.cursor = event.data.cursor;
      this.tell(event.data);
    });
    document.addEventListener("visibilitychange", () => this.wake?.());
    void this.run();
  }

  stop(): void {
    this.ended = true;
    this.abort.abort();
    this.channel?.close();
  }

  // Asks again at once, for everything if `all` is set.
  again(all = false): void {
    if (all) this.cursor = undefined;
    this.abort.abort();
    this.abort = new AbortController();
    this.wake?.();
  }

  setPaused(paused: boolean): void {
    this.paused = paused;
    if (!paused) this.again();
  }

  private tell(changes: Changes): void {
    if (!this.paused) this.listener.changes(changes);
    this.listener.contact({ lost: false });
  }

  private async run(): Promise<void> {
    while (!this.ended) {
      if (document.hidden) await this.sleep(3_600_000);
      else if (this.cursor === undefined) await this.ask(0);
      else if (this.channel) await navigator.locks.request(kChannel, { ifAvailable: true }, (lock) => this.lead(lock));
      else await this.ask(0);
    }
  }

  // With the lock: asks until the tab is hidden. Without it: another tab asks; look again in a while.
  private async lead(lock: Lock | null): Promise<void> {
    if (!lock) {
      await this.sleep(kPauseMs);
      return;
    }
    while (!this.ended && !document.hidden) await this.ask(this.cursor === undefined ? 0 : kWaitSeconds);
  }

  private async ask(wait: number): Promise<void> {
    try {
      const changes = await readChanges({ after: this.cursor, topics: kTopics, wait }, this.abort.signal);
      this.failures = 0;
      this.cursor = changes.cursor;
      this.tell(changes);
      this.channel?.postMessage(changes);
      if (wait === 0) await this.pause();
    } catch (error) {
      if (!(error instanceof ApiError)) return; // Aborted: asks again.
      if (error.isNoContact) this.cursor = undefined;
      const delay = backoffMs(++this.failures);
      this.listener.contact({ lost: true, retryAt: performance.now() + delay });
      await this.sleep(delay);
    }
  }

  private async pause(): Promise<void> {
    // The first answer is followed by a long poll at once.
    if (this.channel) return;
    await this.sleep(kPauseMs);
  }

  private sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
