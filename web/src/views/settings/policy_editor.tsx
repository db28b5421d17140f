// What a dead-letter queue does by itself, drawn as it is edited.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { removePolicy, setPolicy, showPolicy } from "../../api/manage";
import type { Policy } from "../../api/types.gen";
import { shellCommand } from "../../model/command_line";
import { policyPoints } from "../../model/retry_timeline";
import { useResource, useTask } from "../../state/resource";
import { CommandLine, ErrorNote, Field, Section, Switch } from "../../ui/parts";
import { RetryLine } from "../../ui/retry_line";

const kThen: Record<string, string> = { park: "parked", discard: "discarded", archive: "archived" };

function commandOf(queue: string, p: Policy): string {
  const option = (name: string, value: unknown): string[] =>
    value === undefined || value === "" ? [] : [name, String(value)];
  return shellCommand([
    "redrive",
    "dlq",
    "policy",
    queue,
    ...option("--redrive-after", p.redriveAfterSeconds),
    ...option("--max-redrives", p.maxRedrives),
    ...option("--backoff-rate", p.backoffRate),
    ...option("--then", p.then),
    ...option("--archive", p.archive),
    ...(p.archiveExpiring ? ["--archive-expiring"] : []),
  ]);
}

export function PolicyEditor({ queue, may }: { queue: string; may: boolean }): JSX.Element {
  const read = useResource(`policy ${queue}`, () => showPolicy(queue));
  const [edited, setEdited] = useState<Policy | undefined>(undefined);
  const task = useTask();
  useEffect(() => setEdited(undefined), [queue]);
  const policy = edited ?? read.value ?? {};
  const set = (part: Partial<Policy>): void => setEdited({ ...policy, ...part });
  const save = (): Promise<void> =>
    task.run(async () => {
      const { source: _source, ...body } = policy;
      read.set(await setPolicy(queue, body));
      setEdited(undefined);
    });
  const remove = (): Promise<void> =>
    task.run(async () => {
      read.set(await removePolicy(queue));
      setEdited(undefined);
    });
  const number = (
    label: string,
    name: "redriveAfterSeconds" | "maxRedrives" | "backoffRate" | "maxRedriveAfterSeconds",
    note: string,
  ): JSX.Element => (
    <Field label={label} note={note}>
      <input
        type="number"
        min={0}
        disabled={!may}
        value={policy[name] ?? ""}
        onInput={(e) => set({ [name]: Number(e.currentTarget.value) })}
      />
    </Field>
  );
  const points = policyPoints(policy);
  return (
    <Section
      title="What it does by itself"
      aside={
        policy.source === "queue"
          ? "set for this queue"
          : policy.source === "configuration"
            ? "from redrive.toml"
            : undefined
      }
    >
      {read.error && <ErrorNote error={read.error} again={read.again} />}
      {points.length > 0 && (
        <RetryLine points={points} end={policy.maxRedrives ? (kThen[policy.then ?? "park"] ?? "") : ""} />
      )}
      <div class="pad stack">
        <div class="parts-grid">
          {number("Redrive after (seconds)", "redriveAfterSeconds", "0: nothing is redriven by itself")}
          {number("Redrives at most", "maxRedrives", "0: without limit")}
          {number("Times longer after each", "backoffRate", "2 doubles the wait")}
          {number("At most (seconds)", "maxRedriveAfterSeconds", "longest wait between two")}
        </div>
        <Field label="Then">
          <select
            disabled={!may}
            value={policy.then ?? "park"}
            // biome-ignore lint/suspicious/noThenProperty: the API calls it so, and it is a text
            onChange={(e) => set({ then: e.currentTarget.value as "park" })}
          >
            <option value="park">park: it stays, and jobs pass it over</option>
            <option value="discard">discard: into the bin for 7 days</option>
            <option value="archive">archive: a document in a bucket</option>
          </select>
        </Field>
        {(policy.then === "archive" || policy.archiveExpiring) && (
          <Field label="Archive" note="bucket/prefix">
            <input
              disabled={!may}
              value={policy.archive ?? ""}
              placeholder="graveyard/orders"
              onInput={(e) => set({ archive: e.currentTarget.value })}
            />
          </Field>
        )}
        <Switch
          label="Archive what is about to expire"
          on={policy.archiveExpiring ?? false}
          disabled={!may}
          change={(on) => set({ archiveExpiring: on })}
        />
        {task.error && <ErrorNote error={task.error} />}
        {may && (
          <div class="bar">
            <button type="button" disabled={!edited || task.running} onClick={() => void save()}>
              Save the policy
            </button>
            {policy.source === "queue" && (
              <button type="button" class="plain" disabled={task.running} onClick={() => void remove()}>
                Take it away
              </button>
            )}
          </div>
        )}
      </div>
      {edited && <CommandLine command={commandOf(queue, policy)} />}
    </Section>
  );
}
