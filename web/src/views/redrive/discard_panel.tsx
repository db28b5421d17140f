// Puts messages into the bin: at once below a hundred, with the count typed from ten thousand on.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { discardMessages, restoreMessages } from "../../api/manage";
import { discardCommand } from "../../model/command_line";
import { countText, nounText } from "../../model/format";
import { type Selection, selectionMembers, selectionParts } from "../../model/selection";
import { toast } from "../../state/notices";
import { useTask } from "../../state/resource";
import { live } from "../../state/store";
import { Drawer } from "../../ui/overlay";
import { CommandLine, ErrorNote, Field, Others } from "../../ui/parts";
import { closePanel } from "./redrive_state";

const kTypedFrom = 10_000;

// In slices: the server says when there is more.
export async function discardAll(selection: Selection, reason: string): Promise<number> {
  const members = selectionMembers(selection);
  const { groups, ...rest } = members;
  const everything = Object.keys(members).length === 0;
  const rounds = groups ? groups.map((group) => ({ ...rest, group })) : [rest];
  let done = 0;
  for (const body of rounds) {
    for (let more = true; more; ) {
      const touched = await discardMessages(selection.queue, {
        ...body,
        ...(everything ? { all: true } : {}),
        ...(reason ? { reason } : {}),
      });
      done += touched.messages;
      more = touched.more && touched.messages > 0;
    }
  }
  return done;
}

export function DiscardPanel({
  selection,
  count,
  messageIds,
}: {
  selection: Selection;
  count: number;
  messageIds: string[];
}): JSX.Element {
  const [reason, setReason] = useState("");
  const [typed, setTyped] = useState("");
  const task = useTask();
  const careful = count >= kTypedFrom;
  const discard = (): Promise<void> =>
    task.run(async () => {
      const done = await discardAll(selection, reason);
      closePanel();
      live.again();
      const keys = selection.keys ? [...selection.keys] : undefined;
      // Only for picked messages: the bin may hold others that an undo by queue would bring back.
      const undo = (): void => {
        if (keys) void restoreMessages(selection.queue, { keys }).then(() => live.again());
      };
      const say = `${nounText(done, "message is", "messages are")} in the bin for 7 days.`;
      if (keys) toast(say, { label: "Undo", run: undo });
      else toast(say);
    });
  return (
    <Drawer
      title="Discard"
      label="Discard"
      close={closePanel}
      footer={
        <>
          {task.error && <ErrorNote error={task.error} />}
          <div class="bar">
            <button
              type="button"
              class="danger-solid"
              data-autofocus={!careful}
              disabled={task.running || count === 0 || (careful && typed.replace(/\D/g, "") !== String(count))}
              onClick={() => void discard()}
            >
              Discard {countText(count)}
            </button>
          </div>
        </>
      }
    >
      <p class="sentence-of-selection">
        <Others text={selectionParts(selection, count).join(" · ")} />
      </p>
      <p class="muted">
        They rest in the bin of {selection.queue} for 7 days and can be taken back. After that they are gone.
      </p>
      {careful && (
        <Field label={`Type ${countText(count)} to confirm`}>
          <input inputMode="numeric" value={typed} onInput={(e) => setTyped(e.currentTarget.value)} />
        </Field>
      )}
      <Field label="Reason" note="Stands in each message's history.">
        <input value={reason} placeholder="test data" onInput={(e) => setReason(e.currentTarget.value)} />
      </Field>
      <CommandLine free command={discardCommand(selection, messageIds, reason)} />
    </Drawer>
  );
}
