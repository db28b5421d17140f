// What can be done with chosen messages.

import type { JSX } from "preact";
import { countText } from "../../model/format";
import type { Selection } from "../../model/selection";
import { whyNot } from "../../state/session";
import { openRedrive, panel } from "../redrive/redrive_state";

export function SelectionActions({
  selection,
  count,
  ids,
  dead,
}: {
  selection: Selection;
  count: number;
  ids: string[];
  dead: boolean;
}): JSX.Element | null {
  if (whyNot(selection.queue) !== undefined || count === 0) return null;
  return (
    <>
      {dead && (
        <button
          type="button"
          class="small"
          onClick={() => openRedrive(selection, count, ids.length > 0 ? { messageIds: ids } : {})}
        >
          Redrive {countText(count)}…
        </button>
      )}
      <button
        type="button"
        class="small danger"
        onClick={() => (panel.value = { kind: "discard", selection, count, messageIds: ids })}
      >
        Discard {countText(count)}…
      </button>
    </>
  );
}
