// Runs the handler on a copy of a message and says how it ended.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type TryResult, tryMessage } from "../../api/additions";
import { tryCommand } from "../../model/command_line";
import { functionOfArn, shortId } from "../../model/format";
import { durationText } from "../../model/time";
import { useTask } from "../../state/resource";
import { handlers } from "../../state/store";
import { Drawer } from "../../ui/overlay";
import { CommandLine, ErrorNote, Others, Section } from "../../ui/parts";
import { ErrorColumn } from "../jobs/job_parts";
import { closePanel } from "./redrive_state";

const kLook: Record<string, string> = {
  "succeeds now": "ok",
  "fails as recorded": "dead",
  "fails otherwise than recorded": "warn",
};

export function TryPanel({
  queue,
  messageKey,
  messageId,
}: {
  queue: string;
  messageKey: number;
  messageId: string;
}): JSX.Element {
  const [result, setResult] = useState<TryResult | undefined>(undefined);
  const [name, setName] = useState("");
  const task = useTask();
  const run = (): Promise<void> =>
    task.run(async () => {
      setResult(undefined);
      setResult(await tryMessage(queue, messageKey, name || undefined));
    });
  useEffect(() => void run(), [messageKey]);
  const names = [...new Set(handlers.value.map((h) => functionOfArn(h.function ?? "")))].filter((n) => n);
  return (
    <Drawer
      wide
      title={<>Try {shortId(messageId)} on a copy</>}
      label="Try on a copy"
      close={closePanel}
      footer={
        <div class="bar">
          <button type="button" class="primary" data-autofocus disabled={task.running} onClick={() => void run()}>
            {task.running ? "Running…" : result ? "Try again" : "Try"}
          </button>
          {names.length > 1 && (
            <select aria-label="Function" value={name} onChange={(e) => setName(e.currentTarget.value)}>
              <option value="">the function its queue feeds</option>
              {names.map((n) => (
                <option value={n}>{n}</option>
              ))}
            </select>
          )}
        </div>
      }
    >
      {task.running && <p class="muted">The handler runs on a copy…</p>}
      {task.error && <ErrorNote error={task.error} again={() => void run()} />}
      {result && (
        <>
          <p class={`verdict ${kLook[result.verdict] ?? ""}`} role="status">
            {result.verdict === "succeeds now" ? "✓" : "✕"} {result.verdict}
          </p>
          <p class="muted">
            <Others text={result.function} />
            {result.version ? `, ${result.version}` : ""} · {durationText(result.durationMs)}
          </p>
          <div class="two-errors">
            <ErrorColumn title="Recorded" error={result.recorded} />
            {result.error ? (
              <ErrorColumn title="This run" error={result.error} />
            ) : (
              <div>
                <h3>This run</h3>
                <pre class="c-ok">no error</pre>
              </div>
            )}
          </div>
          {result.log && (
            <Section title="Log">
              <pre class="code">
                <Others text={result.log} multiline />
              </pre>
            </Section>
          )}
        </>
      )}
      <p class="muted">The queue is untouched. What the handler does elsewhere, it does.</p>
      <CommandLine free command={tryCommand(queue, messageId)} />
    </Drawer>
  );
}
