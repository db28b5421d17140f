// Editing a message: body with a difference to the original, attributes as rows, and what to do with it then.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type EditBody, editMessage, showMessage } from "../../api/manage";
import type { Message } from "../../api/types.gen";
import { editCommand } from "../../model/command_line";
import { parseJson, prettyJson } from "../../model/json_tokens";
import { links } from "../../model/routes";
import { sha256, toHex } from "../../model/sha256";
import { useTask } from "../../state/resource";
import { navigate } from "../../state/router";
import { live } from "../../state/store";
import { CommandLine, ErrorNote, Field, Section, Skeleton } from "../../ui/parts";
import { Diff } from "../../ui/text_views";
import { panel } from "../redrive/redrive_state";
import { AttributeEditor } from "./attribute_editor";
import { CodeEditor } from "./code_editor";
import { type AttributeRow, asAttributes, attributeChanges, changedCount, countWords, rowsOf } from "./edit_model";
import type { EditProps } from "./edit_types";

// What was seen, so that the server can tell that somebody else was faster.
function digestOf(message: Message): string {
  return toHex(sha256(new TextEncoder().encode(message.body)));
}

// The exact message: nothing is edited from a masked one.
function useWhole(
  queue: string,
  key: number,
): { whole: Message | undefined; error: ReturnType<typeof useTask>["error"] } {
  const [whole, setWhole] = useState<Message | undefined>(undefined);
  const task = useTask();
  useEffect(() => void task.run(async () => setWhole(await showMessage(queue, key, true))), [queue, key]);
  return { whole, error: task.error };
}

export function Edit(props: EditProps): JSX.Element {
  const { whole, error } = useWhole(props.queue, props.message.key);
  if (error) return <ErrorNote error={error}>The message cannot be edited without its exact contents.</ErrorNote>;
  if (!whole) return <Skeleton rows={8} />;
  return <EditWhole {...props} message={whole} />;
}

const lineOf = (text: string, position: number): number => text.slice(0, position).split("\n").length;

function EditWhole({ queue, message, close, saved }: EditProps): JSX.Element {
  const [body, setBody] = useState(message.body);
  const [start, setStart] = useState(message.body);
  const [rows, setRows] = useState<AttributeRow[]>(() => rowsOf(message.attributes));
  const [reason, setReason] = useState("");
  const [conflict, setConflict] = useState<Message | undefined>(undefined);
  const task = useTask();
  const changes = attributeChanges(rowsOf(message.attributes), rows);
  const fields = changedCount(message.body, body, changes);
  const parsed = parseJson(message.body);
  const isJson = parsed.root !== undefined;
  const problem = isJson || /^\s*[{[]/.test(body) ? parseJson(body).problem : undefined;
  const held = message.state === "in-flight";

  const request = (redrive: boolean): EditBody => ({
    ...(body !== message.body ? { body } : {}),
    ...(changes.set.length > 0
      ? { setAttributes: asAttributes(changes.set) as unknown as Record<string, unknown> }
      : {}),
    ...(changes.remove.length > 0 ? { removeAttributes: changes.remove } : {}),
    ...(reason ? { reason } : {}),
    ...(redrive ? { redrive: true } : {}),
    expects: digestOf(message),
  });
  const save = (then: "stay" | "redrive" | "try"): Promise<void> =>
    task.run(async () => {
      try {
        await editMessage(queue, message.key, request(then === "redrive"));
      } catch (error) {
        if ((error as { status?: number }).status === 409) setConflict(await showMessage(queue, message.key, true));
        throw error;
      }
      live.again();
      saved();
      if (then === "redrive") navigate(links.lineage(message.lineageId));
      else close();
      if (then === "try") panel.value = { kind: "try", queue, key: message.key, messageId: message.messageId };
    });
  const pretty = (): void => {
    const root = parseJson(body).root;
    if (!root) return;
    const text = prettyJson(body, root);
    setStart(text);
    setBody(text);
  };
  const ready = fields > 0 && !task.running && !held;
  return (
    <div class="column" onKeyDown={(e) => e.key === "Escape" && fields === 0 && close()}>
      <Section
        title="Edit the body"
        aside={
          <>
            <span>{countWords(fields)}</span>
            {isJson && start === message.body && (
              <button type="button" class="small plain" onClick={pretty}>
                Lay out
              </button>
            )}
          </>
        }
      >
        <CodeEditor
          key={start}
          original={message.body}
          value={start}
          change={setBody}
          label="Body"
          isJson={isJson}
          onSave={() => ready && void save("redrive")}
        />
        {problem && (
          <p class="filter-problem pad">
            Line {lineOf(body, problem.position)}: {problem.message} It can be saved as text all the same.
          </p>
        )}
        <div class="foot">
          The original stays in the bin for 7 days. 20-digit numbers and duplicate keys stay as they are.
        </div>
      </Section>
      <Section title="Attributes">
        <div class="pad">
          <AttributeEditor rows={rows} change={setRows} />
        </div>
      </Section>
      <Section title="Save">
        <div class="pad stack">
          <Field label="Reason" note="Stands in the message's history.">
            <input
              value={reason}
              placeholder="the shop left it out"
              onInput={(e) => setReason(e.currentTarget.value)}
            />
          </Field>
          {held && <p class="warning-note">⚠ A consumer holds this message: it cannot be edited now.</p>}
          {task.error && <ErrorNote error={task.error} />}
          {conflict && (
            <div class="stack">
              <p class="warning-note">⚠ The message was changed meanwhile. Left: as it is now. Right: yours.</p>
              <Diff before={conflict.body} after={body} label="Difference to the message as it is now" />
            </div>
          )}
          <div class="bar">
            {message.deadLetterSource && (
              <button type="button" class="primary" disabled={!ready} onClick={() => void save("redrive")}>
                Save &amp; redrive · {countWords(fields)}
              </button>
            )}
            <button type="button" disabled={!ready} onClick={() => void save("try")}>
              Save &amp; try
            </button>
            <button type="button" disabled={!ready} onClick={() => void save("stay")}>
              Save
            </button>
            <button type="button" class="plain" onClick={close}>
              Leave without saving
            </button>
          </div>
        </div>
        <CommandLine
          command={editCommand(queue, message.messageId, {
            ...(body !== message.body ? { body } : {}),
            set: changes.set,
            remove: changes.remove,
            redrive: message.deadLetterSource !== undefined,
            reason,
          })}
        />
      </Section>
    </div>
  );
}
