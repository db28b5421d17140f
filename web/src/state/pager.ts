// Messages of a queue by position, read in pages as they come into view. A filter is a search: its hits are
// gathered page by page, and can be stopped.

import { signal } from "@preact/signals";
import { type MessageState, type MessageSummary, peekSummaries, type SummaryQuery } from "../api/additions";
import type { ApiError } from "../api/client";
import { asApiError } from "./resource";

export interface PagerQuery {
  queue: string;
  filter?: string | undefined;
  group?: string | undefined;
  state?: MessageState | undefined;
  order: "newest" | "oldest";
}

const kPage = 100;
const kPagesMax = 20;
const kHitsMax = 20_000;

export class Pager {
  readonly total = signal<number | undefined>(undefined); // Rows that can be shown.
  readonly version = signal(0); // Grows whenever rows have come.
  readonly error = signal<ApiError | undefined>(undefined);
  readonly masked = signal(false);
  // Of a search: how far it is. `of` is the number of messages in the queue.
  readonly search = signal<{ scanned: number; of: number | undefined; running: boolean } | undefined>(undefined);
  private pages = new Map<number, MessageSummary[]>();
  private asked = new Set<number>();
  private hits: MessageSummary[] = [];
  private abort = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wanted: [number, number] = [0, kPage];

  constructor(
    readonly query: PagerQuery,
    private readonly size: () => number | undefined,
  ) {
    if (query.filter) void this.searchOn(undefined);
    else void this.load(0);
  }

  row(index: number): MessageSummary | undefined {
    if (this.query.filter) return this.hits[index];
    return this.pages.get(Math.floor(index / kPage))?.[index % kPage];
  }

  find(key: number): { index: number; row: MessageSummary } | undefined {
    if (this.query.filter) {
      const index = this.hits.findIndex((m) => m.key === key);
      const row = this.hits[index];
      return row ? { index, row } : undefined;
    }
    for (const [page, rows] of this.pages) {
      const at = rows.findIndex((m) => m.key === key);
      const row = rows[at];
      if (row) return { index: page * kPage + at, row };
    }
    return undefined;
  }

  // Rows that are in view. Pages are read once scrolling has paused for a moment.
  want(first: number, count: number): void {
    if (this.query.filter) return;
    this.wanted = [first, first + count];
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.loadWanted(), this.pages.size === 0 ? 0 : 40);
  }

  // Reads again what is in view; rows stay until the new ones are there.
  refresh(): void {
    if (this.query.filter) return;
    this.asked.clear();
    const [from, to] = this.wanted;
    const keep = new Set([Math.floor(from / kPage), Math.floor(to / kPage)]);
    for (const page of this.pages.keys()) if (!keep.has(page)) this.pages.delete(page);
    this.loadWanted();
  }

  stop(): void {
    this.abort.abort();
    clearTimeout(this.timer);
    if (this.search.value) this.search.value = { ...this.search.value, running: false };
  }

  private loadWanted(): void {
    const [from, to] = this.wanted;
    for (let page = Math.floor(from / kPage); page * kPage < to; page++) void this.load(page);
  }

  private async load(page: number): Promise<void> {
    if (this.asked.has(page) || this.abort.signal.aborted) return;
    this.asked.add(page);
    try {
      const answer = await peekSummaries(this.request({ at: page * kPage }), this.abort.signal);
      this.pages.set(page, answer.messages);
      this.forget();
      this.total.value = answer.total;
      this.masked.value = answer.masked ?? false;
      this.error.value = undefined;
      this.version.value++;
    } catch (error) {
      if (this.abort.signal.aborted) return;
      this.asked.delete(page);
      this.error.value = asApiError(error);
    }
  }

  private request(place: { at?: number; after?: string | undefined }): SummaryQuery {
    return { ...this.query, ...place, limit: kPage };
  }

  // Pages far from what is in view go first.
  private forget(): void {
    if (this.pages.size <= kPagesMax) return;
    const centre = Math.floor(this.wanted[0] / kPage);
    const far = [...this.pages.keys()].sort((a, b) => Math.abs(b - centre) - Math.abs(a - centre))[0];
    if (far === undefined) return;
    this.pages.delete(far);
    this.asked.delete(far);
  }

  private async searchOn(after: string | undefined): Promise<void> {
    this.search.value = { scanned: 0, of: this.size(), running: true };
    let next = after;
    try {
      do {
        const page = await peekSummaries(this.request({ after: next }), this.abort.signal);
        this.hits.push(...page.messages);
        next = page.next;
        this.masked.value = page.masked ?? false;
        this.total.value = this.hits.length;
        const scanned: number = (this.search.value?.scanned ?? 0) + (page.scanned ?? page.messages.length);
        this.search.value = { scanned, of: this.size(), running: next !== undefined };
        this.version.value++;
      } while (next && this.hits.length < kHitsMax && !this.abort.signal.aborted);
      const scanned = this.search.value?.scanned ?? 0;
      const whole = next === undefined ? (this.size() ?? scanned) : scanned;
      this.search.value = { scanned: whole, of: this.size(), running: false };
    } catch (error) {
      this.search.value = { scanned: this.search.value?.scanned ?? 0, of: this.size(), running: false };
      if (!this.abort.signal.aborted) this.error.value = asApiError(error);
    }
  }
}
