// What feeds a function from a queue: pausing, batches, filters, retries.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { testPattern } from "../../api/additions";
import { type Mapping, updateMapping } from "../../api/aws";
import { ApiError } from "../../api/client";
import { nameOfArn } from "../../model/format";
import { retrierPoints } from "../../model/retry_timeline";
import { links } from "../../model/routes";
import { useTask } from "../../state/resource";
import { mayOperate } from "../../state/session";
import { handlers } from "../../state/store";
import { ErrorNote, Field, Others, Section } from "../../ui/parts";
import { RetryLine } from "../../ui/retry_line";

function FilterTester({ pattern }: { pattern: string }): JSX.Element {
  const [body, setBody] = useState("");
  const [said, setSaid] = useState("");
  const task = useTask();
  const run = (): Promise<void> =>
    task.run(async () => {
      try {
        const result = await testPattern(pattern, body);
        setSaid(result.matches ? "✓ fits" : "✕ does not fit");
      } catch (error) {
        if (!(error instanceof ApiError) || !error.isUnknownOperation) throw error;
        setSaid("This server cannot test patterns.");
      }
    });
  return (
    <details>
      <summary>
        <code>
          <Others text={pattern} />
        </code>
      </summary>
      <div class="stack">
        <Field label="Does this body fit?">
          <textarea rows={3} value={body} onInput={(e) => setBody(e.currentTarget.value)} />
        </Field>
        <div class="bar">
          <button type="button" class="small" disabled={!body || task.running} onClick={() => void run()}>
            Test
          </button>
          <span>{said}</span>
        </div>
        {task.error && <ErrorNote error={task.error} />}
      </div>
    </details>
  );
}

export function MappingCard({ mapping, changed }: { mapping: Mapping; changed: () => void }): JSX.Element {
  const queue = nameOfArn(mapping.EventSourceArn);
  const state = handlers.value.find((h) => h.mapping === mapping.UUID);
  const enabled = state?.enabled ?? mapping.State === "Enabled";
  const task = useTask();
  const turn = (): Promise<void> =>
    task.run(async () => {
      await updateMapping(mapping.UUID, { Enabled: !enabled });
      changed();
    });
  const patterns = mapping.FilterCriteria?.Filters ?? [];
  const retriers = mapping.RetryPolicy ?? [];
  return (
    <Section
      title={
        <>
          From <a href={links.queue(queue)}>{queue}</a>
        </>
      }
      aside={
        <>
          <span class={enabled ? "badge ok" : "badge wait"}>{enabled ? "✓ on" : "‖ paused"}</span>
          {mayOperate.value && (
            <button type="button" class="small" disabled={task.running} onClick={() => void turn()}>
              {enabled ? "Pause" : "Resume"}
            </button>
          )}
        </>
      }
    >
      <div class="pad stack">
        {task.error && <ErrorNote error={task.error} />}
        {state?.slowedBy && <p class="warning-note">⚠ Slowed by {state.slowedBy}.</p>}
        {state && enabled && state.polling === false && (
          <p class="warning-note">⚠ On, but not polling: the log says why.</p>
        )}
        <dl class="pairs">
          <dt>batch</dt>
          <dd>
            up to {mapping.BatchSize ?? 10} messages
            {(mapping.MaximumBatchingWindowInSeconds ?? 0) > 0 &&
              `, gathered for ${mapping.MaximumBatchingWindowInSeconds} s`}
          </dd>
          <dt>at once</dt>
          <dd>
            {state?.running ?? 0} of {state?.limit ? state.limit : "any"}
            {mapping.ScalingConfig?.MaximumConcurrency ? `, at most ${mapping.ScalingConfig.MaximumConcurrency}` : ""}
          </dd>
          <dt>failed items</dt>
          <dd>
            {(mapping.FunctionResponseTypes ?? []).length > 0 ? "named by the handler" : "the batch fails together"}
          </dd>
        </dl>
        {patterns.length > 0 && (
          <div>
            <b>Only messages that fit</b>
            {patterns.map((p) => (
              <FilterTester pattern={p.Pattern} />
            ))}
          </div>
        )}
      </div>
      {retriers.map((r) => (
        <>
          <p class="pad muted">
            Retries of <Others text={r.ErrorEquals.join(", ")} />
          </p>
          <RetryLine points={retrierPoints(r)} end="dead letter" />
        </>
      ))}
    </Section>
  );
}
