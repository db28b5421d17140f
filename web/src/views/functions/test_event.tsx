// Runs a function with an event written by hand.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { type Invocation, invoke } from "../../api/aws";
import { shellCommand } from "../../model/command_line";
import { durationText } from "../../model/time";
import { useTask } from "../../state/resource";
import { CommandLine, ErrorNote, Field, Others, Section } from "../../ui/parts";

export function TestEvent({ name }: { name: string }): JSX.Element {
  const [event, setEvent] = useState("{}");
  const [result, setResult] = useState<Invocation | undefined>(undefined);
  const task = useTask();
  const run = (): Promise<void> =>
    task.run(async () => {
      setResult(undefined);
      setResult(await invoke(name, event));
    });
  return (
    <Section title="Test event">
      <div class="pad stack">
        <Field label="Event">
          <textarea rows={5} spellcheck={false} value={event} onInput={(e) => setEvent(e.currentTarget.value)} />
        </Field>
        <div class="bar">
          <button type="button" disabled={task.running} onClick={() => void run()}>
            {task.running ? "Running…" : "Run once"}
          </button>
          {result && (
            <span class={result.failed ? "c-dead" : "c-ok"}>
              {result.failed ? "✕ failed" : "✓ succeeded"} · {durationText(result.durationMs)}
            </span>
          )}
        </div>
        {task.error && <ErrorNote error={task.error} />}
        {result && (
          <>
            <pre class="code sunken">
              <Others text={result.payload} multiline />
            </pre>
            <pre class="code sunken">
              <Others text={result.log} multiline />
            </pre>
          </>
        )}
      </div>
      <CommandLine command={shellCommand(["redrive", "function", "invoke", name, event])} />
    </Section>
  );
}
