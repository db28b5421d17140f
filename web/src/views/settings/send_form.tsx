// Sends a message to a queue.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { type NewMessage, sendMessage } from "../../api/aws";
import { shellCommand } from "../../model/command_line";
import { parseJson } from "../../model/json_tokens";
import { links } from "../../model/routes";
import { useTask } from "../../state/resource";
import { live, queues } from "../../state/store";
import { CommandLine, ErrorNote, Field, Section } from "../../ui/parts";
import { AttributeEditor } from "../edit/attribute_editor";
import { type AttributeRow, asAttributes } from "../edit/edit_model";

export function SendForm({ queue }: { queue: string }): JSX.Element {
  const [body, setBody] = useState("");
  const [rows, setRows] = useState<AttributeRow[]>([]);
  const [group, setGroup] = useState("");
  const [delay, setDelay] = useState("");
  const [sent, setSent] = useState<string | undefined>(undefined);
  const task = useTask();
  const fifo = queues.value.get(queue)?.fifo ?? false;
  const looksJson = /^\s*[{[]/.test(body);
  const problem = looksJson ? parseJson(body).problem : undefined;
  const named = rows.filter((r) => r.name !== "");
  const message: NewMessage = {
    MessageBody: body,
    ...(named.length > 0 ? { MessageAttributes: asAttributes(named) } : {}),
    ...(group ? { MessageGroupId: group } : {}),
    ...(fifo ? { MessageDeduplicationId: `console-${Date.now()}` } : {}),
    ...(delay && !fifo ? { DelaySeconds: Number(delay) } : {}),
  };
  const submit = (): Promise<void> =>
    task.run(async () => {
      setSent((await sendMessage(queue, message)).MessageId);
      live.again();
    });
  return (
    <Section title="Send a message">
      <form
        class="pad stack"
        onSubmit={(e) => {
          e.preventDefault();
          void submit();
        }}
      >
        <Field label="Body" note={problem ? `Not JSON: ${problem.message}` : looksJson ? "JSON" : "text"}>
          <textarea rows={5} spellcheck={false} value={body} onInput={(e) => setBody(e.currentTarget.value)} />
        </Field>
        <AttributeEditor rows={rows} change={setRows} />
        {fifo && (
          <Field label="Message group">
            <input required value={group} onInput={(e) => setGroup(e.currentTarget.value)} />
          </Field>
        )}
        {!fifo && (
          <Field label="Delay (seconds)">
            <input type="number" min={0} max={900} value={delay} onInput={(e) => setDelay(e.currentTarget.value)} />
          </Field>
        )}
        {task.error && <ErrorNote error={task.error} />}
        <div class="bar">
          <button type="submit" disabled={task.running || body === ""}>
            Send 1
          </button>
          {sent && (
            <span class="muted">
              sent as <a href={links.lineage(sent)}>{sent.slice(0, 8)}</a>
            </span>
          )}
        </div>
      </form>
      <CommandLine
        command={shellCommand([
          "redrive",
          "send",
          queue,
          body || "BODY",
          ...named.flatMap((r) => ["--attribute", `${r.name}:${r.type}=${r.value}`]),
          ...(group ? ["--group", group] : []),
          ...(delay && !fifo ? ["--delay", delay] : []),
        ])}
      />
    </Section>
  );
}
