// What sets the dead apart from the processed: a sentence, bars that prove it, and the filter that chooses them.

import type { JSX } from "preact";
import type { FailureGroup } from "../../api/types.gen";
import { countText } from "../../model/format";
import { Others, Section } from "../../ui/parts";
import { Bars } from "../../ui/small_charts";

type Distinction = NonNullable<FailureGroup["setsApart"]>[number];

// "25 of 25 lack attribute store_id; 0 of 75 processed do" as people would say it.
export function causeSentence(d: Distinction): string {
  const [dead = d.sentence] = d.sentence.split("; ");
  const said = dead.replace(/^\d[\d,.]* of \d[\d,.]* /, "");
  if (said === dead) return d.sentence;
  const all = d.deadWith === d.deadTotal;
  const who = all
    ? d.deadTotal === 1
      ? "The only one"
      : `All ${countText(d.deadTotal)}`
    : `${countText(d.deadWith)} of ${countText(d.deadTotal)}`;
  const one = d.deadTotal === 1 && all;
  const rest =
    d.processedWith === 0
      ? `None of the processed ${/^(?:have|lack) /.test(said) ? "does" : "did"}.`
      : `${countText(d.processedWith)} of ${countText(d.processedTotal)} processed ${/^(?:have|lack) /.test(said) ? "do" : "did"}.`;
  return `${who} ${one ? singular(said) : said}. ${rest}`;
}

function singular(words: string): string {
  return words.replace(/^have /, "has ").replace(/^lack /, "lacks ");
}

function Deploy({ deploy }: { deploy: NonNullable<FailureGroup["deploy"]> }): JSX.Element {
  return (
    <p class={deploy.verdict === "began-with" ? "deploy told" : "deploy muted"}>
      <Others text={deploy.consumer.replace(/^function:/, "")} />: <Others text={deploy.sentence} />.
    </p>
  );
}

export function Causes({
  group,
  narrow,
}: {
  group: FailureGroup;
  narrow: (clause: string, negated: boolean) => void;
}): JSX.Element {
  const distinctions = group.setsApart ?? [];
  const [first] = distinctions;
  return (
    <Section
      title="What sets them apart"
      aside={first ? `from ${countText(first.processedTotal)} processed messages` : undefined}
    >
      {distinctions.length === 0 && (
        <p class="pad muted">Nothing sets them apart from what was processed, as far as contents and consumers tell.</p>
      )}
      {distinctions.map((d, i) => (
        <div class={i === 0 ? "cause first" : "cause"}>
          <p class="cause-sentence">
            <Others text={causeSentence(d)} />
          </p>
          <Bars of={d} />
          {d.filter && (
            <div class="cause-filter">
              <button
                type="button"
                class="chip code"
                title="Narrow by this; with Alt, leave these out"
                onClick={(e) => narrow(d.filter ?? "", e.altKey)}
              >
                <Others text={d.filter} />
              </button>
            </div>
          )}
        </div>
      ))}
      {group.deploy && (
        <div class="cause">
          <Deploy deploy={group.deploy} />
        </div>
      )}
    </Section>
  );
}
