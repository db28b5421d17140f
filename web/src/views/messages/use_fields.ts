// The fields of a queue's messages, read when a filter is first being written.

import { useState } from "preact/hooks";
import { listFields } from "../../api/additions";
import type { FieldInfo } from "../../model/filter_completion";

const known = new Map<string, { at: number; fields: FieldInfo[] }>();

export function useFields(queue: string): { fields: readonly FieldInfo[]; load: () => void } {
  const [, redraw] = useState(0);
  const load = (): void => {
    const kept = known.get(queue);
    if (kept && performance.now() - kept.at < 60_000) return;
    known.set(queue, { at: performance.now(), fields: kept?.fields ?? [] });
    listFields(queue).then(
      (answer) => {
        known.set(queue, { at: performance.now(), fields: answer.fields });
        redraw((n) => n + 1);
      },
      () => undefined,
    );
  };
  return { fields: known.get(queue)?.fields ?? [], load };
}
