// Every component in every state: the place where a look is agreed on. In development builds only.

import type { JSX } from "preact";
import { parseJson } from "../../model/json_tokens";
import { policyPoints } from "../../model/retry_timeline";
import { CommandLine, EmptyState, ErrorNote, Others, PageHead, Section, Skeleton, Switch } from "../../ui/parts";
import { OutcomeBar, OutcomeCounts, Receipt, Stages } from "../../ui/progress";
import { RetryLine } from "../../ui/retry_line";
import { Bars, Sparkline, TrendBars } from "../../ui/small_charts";
import { MessageMark, StatusBadge } from "../../ui/status";
import { Diff, HexView, JsonTree, StackTrace, TextView } from "../../ui/text_views";

const kJob = {
  status: "running",
  canary: [1, 10, 100],
  stage: 1,
  toMove: 25,
  moved: 11,
  succeeded: 8,
  failedAgain: 0,
  gone: 0,
  open: 3,
  maxFailurePercent: 10,
};
const kJson = '{"order": 12345678901234567890, "gift": true, "note": "a\\u202eb", "items": [{"sku": "a1"}]}';
const kStates = {
  group: ["new", "regressed", "known", "ignored", "resolved"],
  job: ["running", "paused", "halted", "completed", "cancelled", "failed"],
  alarm: ["ALARM", "OK", "INSUFFICIENT_DATA"],
  severity: ["problem", "warning", "advice"],
} as const;

function Badges(): JSX.Element {
  return (
    <Section title="States">
      <div class="pad stack">
        {(Object.keys(kStates) as (keyof typeof kStates)[]).map((kind) => (
          <div class="bar">
            {kStates[kind].map((state) => (
              <StatusBadge kind={kind} state={state} />
            ))}
          </div>
        ))}
        <div class="bar">
          {["visible", "in-flight", "delayed"].map((state) => (
            <MessageMark message={{ state }} />
          ))}
          <MessageMark message={{ state: "visible", deadLetterSource: "x" }} />
          <MessageMark message={{ state: "visible", deadLetterSource: "x", failedAgain: true }} />
          <MessageMark message={{ state: "visible", deadLetterSource: "x", parked: true }} />
        </div>
      </div>
    </Section>
  );
}

function Buttons(): JSX.Element {
  return (
    <Section title="Buttons">
      <div class="pad stack">
        <div class="bar">
          <button type="button" class="primary">
            Redrive 25… <kbd>R</kbd>
          </button>
          <button type="button">Try on a copy</button>
          <button type="button" class="danger">
            Discard 25…
          </button>
          <button type="button" class="danger-solid">
            Discard 25
          </button>
          <button type="button" class="plain">
            Mark known
          </button>
          <button type="button" disabled>
            Off
          </button>
        </div>
        <Switch label="on" on change={() => undefined} />
        <input placeholder="A field" aria-label="A field" />
      </div>
    </Section>
  );
}

export function Parts(): JSX.Element {
  const root = parseJson(kJson).root;
  return (
    <div class="page">
      <PageHead title="Components" />
      <div class="parts-grid">
        <Badges />
        <Buttons />
        <Section title="Job">
          <div class="pad stack">
            <Stages job={kJob} />
            <Stages job={{ ...kJob, status: "halted", failedAgain: 3, open: 0 }} />
            <OutcomeBar job={{ ...kJob, failedAgain: 2 }} />
          </div>
          <OutcomeCounts job={{ ...kJob, gone: 1, failedAgain: 2 }} />
        </Section>
        <Section title="Receipt">
          <div class="pad">
            <Receipt sentence="25 redriven, 25 processed, 0 failed again." text="" />
          </div>
        </Section>
        <Section title="Small charts">
          <div class="pad stack">
            <TrendBars values={Array.from({ length: 24 }, (_, i) => (i * i) % 9)} />
            <Sparkline values={[1, 4, 2, null, null, 3, 9, 2]} label="Visible" />
            <Bars of={{ sentence: "", deadWith: 25, deadTotal: 25, processedWith: 3, processedTotal: 75 }} />
            <RetryLine points={policyPoints({ redriveAfterSeconds: 60, maxRedrives: 4 })} end="parked" />
          </div>
        </Section>
        <Section title="Contents">
          {root && <JsonTree text={kJson} root={root} label="Tree" />}
          <TextView text={"one\ntwo\u0000three"} label="Text" />
          <HexView bytes={new TextEncoder().encode("hello, wörld")} label="Hex" />
          <Diff before={'{\n "a": 1\n}'} after={'{\n "a": 2\n}'} label="Difference" />
          <StackTrace trace={'Traceback:\n  File "/app/a.py", line 3, in f\n    g()\nKeyError: 1'} />
        </Section>
        <Section title="Notes">
          <div class="pad stack">
            <ErrorNote
              error={{ code: "NonExistentQueue", message: "The queue does not exist.", requestId: "1bf90cd4-0000" }}
              again={() => undefined}
            />
            <p class="warning-note">⚠ No consumer is receiving from orders at the moment.</p>
            <CommandLine free command="redrive dlq redrive orders-dlq --canary" />
            <p>
              Hidden characters: <Others text={"a\u200bb\u202ec\u0007"} />
            </p>
          </div>
          <EmptyState headline="No dead letters." />
          <Skeleton />
        </Section>
      </div>
    </div>
  );
}
