// The address bar. Back and forward restore the scroll position; filters and the chosen message are in the URL.

import { signal } from "@preact/signals";
import { kBase, parseRoute, type Route } from "../model/routes";

export const route = signal<Route>(read());

function read(): Route {
  return typeof location === "undefined" ? parseRoute("/", "") : parseRoute(location.pathname, location.search);
}

const positions = new Map<number, number>();
let current = 0;
let newest = 0;

interface Entry {
  redrive?: number;
}

function remember(): void {
  positions.set(current, window.scrollY);
}

// Set while a view that was left and entered again should be where it was.
let restoring: number | undefined;

export function navigate(address: string): void {
  remember();
  current = ++newest;
  history.pushState({ redrive: current } satisfies Entry, "", address);
  restoring = 0;
  route.value = read();
}

// Changes parameters of this view without a step for "back".
export function replaceQuery(changes: Record<string, string | number | undefined>): void {
  const search = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") search.delete(name);
    else search.set(name, String(value));
  }
  const text = search.toString();
  const address = location.pathname + (text ? `?${text}` : "");
  if (address === location.pathname + location.search) return;
  history.replaceState(history.state, "", address);
  route.value = read();
}

// As replaceQuery, with a step.
export function pushQuery(changes: Record<string, string | number | undefined>): void {
  remember();
  current = ++newest;
  history.pushState({ redrive: current } satisfies Entry, "", location.pathname + location.search);
  replaceQuery(changes);
}

// Called when a view has drawn its first data: scrolls to where the reader was.
export function settleScroll(): void {
  if (restoring === undefined) return;
  const wanted = restoring;
  if (document.documentElement.scrollHeight - window.innerHeight < wanted) return;
  restoring = undefined;
  window.scrollTo(0, wanted);
}

function onClick(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    return;
  const link = (event.target as Element | null)?.closest?.("a[href]") as HTMLAnchorElement | null;
  if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
  if (link.pathname !== kBase && !link.pathname.startsWith(`${kBase}/`)) return;
  event.preventDefault();
  navigate(link.pathname + link.search + link.hash);
}

export function startRouter(): void {
  history.scrollRestoration = "manual";
  const state = history.state as Entry | null;
  current = newest = state?.redrive ?? 0;
  history.replaceState({ redrive: current } satisfies Entry, "");
  window.addEventListener("popstate", (event) => {
    remember();
    current = (event.state as Entry | null)?.redrive ?? 0;
    restoring = positions.get(current) ?? 0;
    route.value = read();
  });
  document.addEventListener("click", onClick);
}
