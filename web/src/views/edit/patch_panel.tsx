// One edit for many: a sample is edited, the difference becomes a JSON Patch, and samples show what it would do.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type DryRun, startJob } from "../../api/additions";
import { peekMessages, showMessage } from "../../api/manage";
import { applyPatch } from "../../model/apply_patch";
import { quoteText } from "../../model/filter_text";
import { countText, shortId } from "../../model/format";
import { makePatch, patchText } from "../../model/json_patch";
import { parseJson, prettyJson } from "../../model/json_tokens";
import { selectionMembers } from "../../model/selection";
import { useResource, useTask } from "../../state/resource";
import { Drawer } from "../../ui/overlay";
import { ErrorNote, Field, Others, Section, Skeleton } from "../../ui/parts";
import { Diff } from "../../ui/text_views";
import { closePanel, openRedrive } from "../redrive/redrive_state";
import { CodeEditor } from "./code_editor";
import type { PatchProps } from "./lazy_patch";

function pretty(body: string): string {
  const { root } = parseJson(body);
  return root ? prettyJson(body, root) : body;
}

interface Sample {
  id: string;
  before: string;
  after: string | undefined;
  problem: string | undefined;
}

function Samples({ samples }: { samples: readonly Sample[] }): JSX.Element {
  return (
    <>
      {samples.map((s) => (
        <details class="sample" open={s === samples[0]}>
          <summary>
            <span class="mono">{shortId(s.id)}</span>{" "}
            {s.after === undefined ? (
              <span class="c-warn">does not fit: {<Others text={s.problem ?? ""} />}</span>
            ) : (
              <span class="muted">fits</span>
            )}
          </summary>
          {s.after !== undefined && <Diff before={pretty(s.before)} after={pretty(s.after)} label="Before and after" />}
        </details>
      ))}
    </>
  );
}

export function PatchPanel({ selection, count, sample }: PatchProps): JSX.Element {
  const whole = useResource(`message ${selection.queue} ${sample} true`, (signal) =>
    showMessage(selection.queue, sample, true, signal),
  );
  const clauses = [
    selection.group ? `group == ${quoteText(selection.group)}` : "",
    selection.filter ? `(${selection.filter})` : "",
  ].filter((c) => c);
  const others = useResource(`patch samples ${selection.queue} ${clauses.join(" and ")}`, (signal) =>
    peekMessages(selection.queue, { limit: 5, filter: clauses.join(" and ") || undefined, unmasked: true }, signal),
  );
  const [edited, setEdited] = useState<string | undefined>(undefined);
  const [byHand, setByHand] = useState<string | undefined>(undefined);
  const [run, setRun] = useState<DryRun | undefined>(undefined);
  const task = useTask();
  const original = whole.value ? pretty(whole.value.body) : "";
  const made = edited === undefined ? [] : makePatch(original, edited);
  const patch = byHand ?? (made && made.length > 0 ? patchText(made) : "");

  useEffect(() => {
    if (!patch) return undefined;
    const timer = setTimeout(() => {
      void task.run(async () => {
        const answer = await startJob(selection.queue, { ...selectionMembers(selection), patch, dryRun: true });
        setRun(answer.dryRun);
      });
    }, 300);
    return () => clearTimeout(timer);
  }, [patch]);

  const samples: Sample[] = patch
    ? (others.value?.messages ?? []).map((m) => ({ id: m.messageId, before: m.body, ...applyPatch(m.body, patch) }))
    : [];
  const fits = run?.patch?.fits ?? run?.matched;
  const not = run?.patch?.not ?? (run ? Math.max(count - run.matched, 0) : undefined);
  return (
    <Drawer
      wide
      title={`Patch ${countText(count)}`}
      label="Patch all"
      close={closePanel}
      footer={
        <div class="bar">
          <button
            type="button"
            class="primary"
            disabled={!patch || !run || (fits ?? 0) === 0}
            onClick={() => openRedrive(selection, fits, { patch })}
          >
            Go on with {countText(fits ?? 0)}…
          </button>
          {run && (
            <span class="muted">
              fits {countText(fits ?? 0)}
              {(not ?? 0) > 0 && `, does not fit ${countText(not ?? 0)} (${not === 1 ? "stays" : "stay"})`}
            </span>
          )}
        </div>
      }
    >
      <p class="muted">Edit this one message. What you change becomes a JSON Patch for all that it fits.</p>
      {whole.error && <ErrorNote error={whole.error} again={whole.again} />}
      {!whole.value && !whole.error && <Skeleton />}
      {whole.value && (
        <Section
          title={<>Sample {shortId(whole.value.messageId)}</>}
          aside={made === undefined ? "not JSON" : undefined}
        >
          <CodeEditor
            original={original}
            value={original}
            change={(text) => {
              setEdited(text);
              setByHand(undefined);
            }}
            label="Sample body"
            isJson
          />
        </Section>
      )}
      <Field label="JSON Patch" note="Made from the edit above; may be written by hand.">
        <textarea rows={4} spellcheck={false} value={patch} onInput={(e) => setByHand(e.currentTarget.value)} />
      </Field>
      {task.error && <ErrorNote error={task.error} />}
      {samples.length > 0 && (
        <Section title="Before and after" aside={`${samples.length} samples`}>
          <Samples samples={samples} />
        </Section>
      )}
    </Drawer>
  );
}
