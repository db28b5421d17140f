// Traps in how queues and dead-letter queues are set up.

import type { JSX } from "preact";
import { examine, lacks } from "../../api/additions";
import { countText, nounText } from "../../model/format";
import { useResource } from "../../state/resource";
import { queues } from "../../state/store";
import { CommandLine, EmptyState, ErrorNote, PageHead, Skeleton } from "../../ui/parts";
import { FindingRow } from "./finding_row";

export function Doctor(): JSX.Element {
  const read = useResource("doctor", () => examine());
  const findings = read.value?.findings ?? [];
  const count = (severity: string): number => findings.filter((f) => f.severity === severity).length;
  return (
    <div class="page">
      <PageHead title="Doctor">
        <div class="facts">
          <span class={count("problem") > 0 ? "dead" : ""}>
            <b>{countText(count("problem"))}</b> problems
          </span>
          <span>
            <b>{countText(count("warning"))}</b> warnings
          </span>
          <span>
            <b>{countText(count("advice"))}</b> pieces of advice
          </span>
          <span>{nounText(queues.value.size, "queue")} examined</span>
        </div>
        <div class="bar">
          <button type="button" onClick={read.again}>
            Examine again
          </button>
        </div>
      </PageHead>
      <section class="section" aria-label="Findings">
        {read.error && <ErrorNote error={read.error} again={read.again} />}
        {read.loading && !read.value && <Skeleton />}
        {read.value && lacks("B2 doctor") && (
          <EmptyState headline="This server does not examine itself.">
            <p>The command line does:</p>
            <CommandLine free command="redrive doctor" />
          </EmptyState>
        )}
        {read.value && !lacks("B2 doctor") && findings.length === 0 && <EmptyState headline="Nothing found." />}
        {findings.map((f) => (
          <FindingRow finding={f} />
        ))}
      </section>
    </div>
  );
}
