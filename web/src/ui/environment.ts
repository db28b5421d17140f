// What components need to know of the page they are in. The application sets it at the start; components know
// nothing of where it comes from.

import { type ReadonlySignal, signal } from "@preact/signals";
import type { TimeStyle } from "../model/time";

export const environment: {
  now: ReadonlySignal<number>; // The server's time in milliseconds.
  timeStyle: ReadonlySignal<TimeStyle>;
  copy: (text: string) => void;
} = {
  now: signal(Date.now()),
  timeStyle: signal("relative"),
  copy: () => {},
};
