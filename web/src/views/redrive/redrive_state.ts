// Which panel is open beside the view.

import { signal } from "@preact/signals";
import type { Selection } from "../../model/selection";

export type Panel =
  | {
      kind: "redrive";
      selection: Selection;
      count: number | undefined;
      messageIds?: string[];
      reason?: string;
      patch?: string;
    }
  | { kind: "job"; job: string }
  | { kind: "try"; queue: string; key: number; messageId: string }
  | { kind: "discard"; selection: Selection; count: number; messageIds: string[] }
  | { kind: "patch"; selection: Selection; count: number; sample: number };

export const panel = signal<Panel | undefined>(undefined);

export function openRedrive(
  selection: Selection,
  count: number | undefined,
  more: { messageIds?: string[]; reason?: string; patch?: string } = {},
): void {
  panel.value = { kind: "redrive", selection, count, ...more };
}

export function closePanel(): void {
  panel.value = undefined;
}
