// The buttons of a group, and their keys.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { MessageSummary } from "../../api/additions";
import { markGroup } from "../../api/manage";
import type { FailureGroup, GroupMark } from "../../api/types.gen";
import { markCommand } from "../../model/command_line";
import { countText } from "../../model/format";
import { links } from "../../model/routes";
import type { Selection } from "../../model/selection";
import { type Action, useActions } from "../../state/actions";
import { useTask } from "../../state/resource";
import { navigate } from "../../state/router";
import { isReader, whyNot } from "../../state/session";
import { noteGroup } from "../../state/store";
import { Dialog, Menu } from "../../ui/overlay";
import { CommandLine, ErrorNote, Field } from "../../ui/parts";
import { openRedrive, panel } from "../redrive/redrive_state";

export interface GroupActionsProps {
  group: FailureGroup;
  queue: string;
  selection: Selection;
  count: number;
  cursor: MessageSummary | undefined;
  exportAll: () => void;
  exported: number | undefined;
}

function NoteDialog({
  group,
  queue,
  close,
  save,
}: {
  group: FailureGroup;
  queue: string;
  close: () => void;
  save: (mark: GroupMark) => void;
}): JSX.Element {
  const [note, setNote] = useState(group.note ?? "");
  const [owner, setOwner] = useState(group.owner ?? "");
  return (
    <Dialog title="Note on this group" close={close}>
      <Field label="Note" note="Kept with the group, and offered as the reason of a redrive.">
        <textarea rows={4} value={note} onInput={(e) => setNote(e.currentTarget.value)} />
      </Field>
      <Field label="Owner">
        <input value={owner} onInput={(e) => setOwner(e.currentTarget.value)} />
      </Field>
      <CommandLine free command={markCommand(queue, group.id, { note })} />
      <div class="bar">
        <button type="button" onClick={close}>
          Close
        </button>
        <button
          type="button"
          class="primary"
          onClick={() => {
            save({ note, owner });
            close();
          }}
        >
          Save
        </button>
      </div>
    </Dialog>
  );
}

export function GroupActions(props: GroupActionsProps): JSX.Element | null {
  const { group, queue, selection, count, cursor } = props;
  const task = useTask();
  const [noting, setNoting] = useState(false);
  const refusal = whyNot(queue);
  const may = refusal === undefined;
  const mark = (body: GroupMark): Promise<void> =>
    task.run(async () => noteGroup({ ...(await markGroup(queue, group.id, body)), queue }));
  const redrive = (): void => openRedrive(selection, count, group.note ? { reason: group.note } : {});
  const tryIt = (): void => {
    if (cursor) panel.value = { kind: "try", queue, key: cursor.key, messageId: cursor.messageId };
  };
  const edit = (): void => {
    if (cursor) navigate(`${links.message(queue, cursor.key)}?edit=1`);
  };
  const patch = (): void => {
    if (cursor) panel.value = { kind: "patch", selection, count, sample: cursor.key };
  };
  const discard = (): void => {
    panel.value = { kind: "discard", selection, count, messageIds: [] };
  };
  const inHour = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

  const actions: Action[] = may
    ? [
        { id: "redrive", label: `Redrive ${countText(count)}…`, key: "r", run: redrive },
        { id: "try", label: "Try on a copy", key: "t", run: tryIt },
        { id: "edit", label: "Edit & redrive one", key: "e", run: edit },
        { id: "patch", label: "Patch all…", run: patch },
        { id: "discard", label: "Discard…", run: discard },
        { id: "known", label: "Mark known", run: () => void mark({ status: "known" }) },
        { id: "resolved", label: "Mark resolved", run: () => void mark({ status: "resolved" }) },
        { id: "ignore", label: "Ignore", key: "i", run: () => void mark({ status: "ignored" }) },
        { id: "note", label: "Note", run: () => setNoting(true) },
      ]
    : [];
  useActions(actions);
  if (isReader.value) return null;
  const none = count === 0;
  return (
    <>
      <div class="bar group-actions">
        <button type="button" class="primary" disabled={!may || none} title={refusal} onClick={redrive}>
          Redrive {countText(count)}… <kbd>R</kbd>
        </button>
        <button type="button" disabled={!may || !cursor} title={refusal} onClick={tryIt}>
          Try on a copy <kbd>T</kbd>
        </button>
        <button type="button" disabled={!may || !cursor} title={refusal} onClick={edit}>
          Edit &amp; redrive one <kbd>E</kbd>
        </button>
        <button type="button" disabled={!may || !cursor} title={refusal} onClick={patch}>
          Patch all…
        </button>
        <button type="button" class="danger" disabled={!may || none} title={refusal} onClick={discard}>
          Discard {countText(count)}…
        </button>
        {group.status === "known" ? (
          <button type="button" class="plain" disabled={!may} onClick={() => void mark({ status: "resolved" })}>
            Mark resolved
          </button>
        ) : (
          <button type="button" class="plain" disabled={!may} onClick={() => void mark({ status: "known" })}>
            Mark known
          </button>
        )}
        <button type="button" class="plain" disabled={!may} onClick={() => setNoting(true)}>
          Note
        </button>
        <button type="button" class="plain" disabled={props.exported !== undefined} onClick={props.exportAll}>
          {props.exported === undefined ? "Export" : `Exporting ${countText(props.exported)}`}
        </button>
        <Menu button="More" label="More actions" class="plain">
          <button type="button" data-closes disabled={!may} onClick={() => void mark({ status: "resolved" })}>
            Mark resolved
          </button>
          <button type="button" data-closes disabled={!may} onClick={() => void mark({ status: "ignored" })}>
            Ignore
          </button>
          <button
            type="button"
            data-closes
            disabled={!may}
            onClick={() => void mark({ status: "ignored", ignoreUntil: inHour(24) })}
          >
            Ignore for a day
          </button>
          <button
            type="button"
            data-closes
            disabled={!may}
            onClick={() => void mark({ status: "ignored", ignoreCount: 100 })}
          >
            Ignore until 100 more came
          </button>
          <button type="button" data-closes disabled={!may} onClick={() => void mark({ status: "new" })}>
            Mark new again
          </button>
        </Menu>
      </div>
      {refusal && <p class="muted">{refusal}</p>}
      {task.error && <ErrorNote error={task.error} />}
      {noting && <NoteDialog group={group} queue={queue} close={() => setNoting(false)} save={(m) => void mark(m)} />}
    </>
  );
}
