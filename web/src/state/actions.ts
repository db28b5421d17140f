// What can be done in the current view: keys, and the palette's list.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { singleKeys } from "./prefs";

export interface Action {
  id: string;
  label: string;
  key?: string; // One character, or "g d" for two in a row.
  run: () => void;
}

const layers = signal<readonly (readonly Action[])[]>([]);

export const allActions = (): Action[] => layers.value.flat();

// The actions of a component, as long as it is shown. The latest come first.
export function useActions(actions: readonly Action[]): void {
  useEffect(() => {
    layers.value = [actions, ...layers.peek()];
    return () => {
      layers.value = layers.peek().filter((l) => l !== actions);
    };
  });
}

export function isTyping(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  if (!element?.tagName) return false;
  if (element.isContentEditable || element.shadowRoot) return true;
  const isField = element.tagName === "INPUT" || element.tagName === "TEXTAREA" || element.tagName === "SELECT";
  const type = (element as HTMLInputElement).type;
  return isField && type !== "checkbox" && type !== "radio" && type !== "range" && type !== "button";
}

let prefix = "";
let prefixAt = 0;

// True when the key did something.
export function pressKey(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return false;
  if (!singleKeys.value && event.key.length === 1) return false;
  const first = prefix && performance.now() - prefixAt < 1500 ? `${prefix} ` : "";
  prefix = "";
  const pressed = first + event.key;
  const action = allActions().find((a) => a.key === pressed);
  if (action) {
    action.run();
    return true;
  }
  if (!first && allActions().some((a) => a.key?.startsWith(`${event.key} `))) {
    prefix = event.key;
    prefixAt = performance.now();
    return true;
  }
  return false;
}
