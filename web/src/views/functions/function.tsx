// One function: runs and errors over time, invocations with their logs, test events, mappings.

import type { JSX } from "preact";
import { listInvocations } from "../../api/additions";
import { getFunction, listMappings } from "../../api/aws";
import { showFunctionLogs } from "../../api/manage";
import { countText, sizeText } from "../../model/format";
import { links } from "../../model/routes";
import { durationText } from "../../model/time";
import { useResource } from "../../state/resource";
import { replaceQuery, route } from "../../state/router";
import { mayOperate } from "../../state/session";
import { Chart } from "../../ui/chart";
import { EmptyState, ErrorNote, Others, PageHead, Section, Skeleton, TimeText } from "../../ui/parts";
import { RangePicker } from "../queue/range_picker";
import { useChartWindow, useMetrics, valuesOf } from "../queue/use_metrics";
import { MappingCard } from "./mapping_card";
import { TestEvent } from "./test_event";

const kMetrics = ["invocations", "errors", "throttles", "duration", "duration-max", "concurrency"];

function Charts({ name }: { name: string }): JSX.Element {
  const window = useChartWindow();
  const read = useMetrics(
    `function ${name}`,
    window,
    kMetrics.map((metric) => ({ function: name, metric })),
  );
  const answer = read.value;
  const common = { from: answer?.from ?? window.from, step: answer?.step ?? window.step, onRange: window.brush };
  const runs = valuesOf(answer, "invocations");
  const mean = valuesOf(answer, "duration").map((d, i) => {
    const n = runs[i];
    return d === null || !n ? null : d / n;
  });
  return (
    <>
      <Section title="Runs" aside={<RangePicker window={window} />}>
        {read.error && <ErrorNote error={read.error} again={read.again} />}
        <Chart
          {...common}
          label="Runs and errors"
          series={[
            { label: "runs", colour: "accent", fill: true, values: runs },
            { label: "errors", colour: "dead", values: valuesOf(answer, "errors") },
            { label: "throttled", colour: "warn", dashed: true, values: valuesOf(answer, "throttles") },
          ]}
        />
      </Section>
      <div class="columns half">
        <Section title="Duration">
          <Chart
            {...common}
            label="Duration"
            height={130}
            unit={(v) => durationText(v)}
            series={[
              { label: "mean", colour: "accent", values: mean },
              { label: "longest", colour: "wait", dashed: true, values: valuesOf(answer, "duration-max") },
            ]}
          />
        </Section>
        <Section title="At once">
          <Chart
            {...common}
            label="Runs at once"
            height={130}
            series={[{ label: "at once", colour: "ok", fill: true, values: valuesOf(answer, "concurrency") }]}
          />
        </Section>
      </div>
    </>
  );
}

function Invocations({ name }: { name: string }): JSX.Element {
  const read = useResource(`invocations ${name}`, () => listInvocations(name));
  const logs = useResource(`logs ${name}`, () => showFunctionLogs(name));
  const open = route.value.query.get("run") ?? "";
  const rows = read.value?.invocations ?? [];
  const lines = (logs.value?.lines ?? []).filter((l) => l.requestId === open);
  const types = new Map<string, number>();
  for (const row of rows) if (row.errorType) types.set(row.errorType, (types.get(row.errorType) ?? 0) + 1);
  return (
    <Section
      title="Last runs"
      aside={
        <>
          {[...types].map(([type, n]) => (
            <span class="badge dead">
              <Others text={type} /> {n}
            </span>
          ))}
          <button type="button" class="small plain" onClick={() => [read.again(), logs.again()]}>
            Again
          </button>
        </>
      }
    >
      {read.error && <ErrorNote error={read.error} again={read.again} />}
      {read.loading && !read.value && <Skeleton />}
      {read.value && rows.length === 0 && <EmptyState headline="It has not run yet." />}
      {rows.length > 0 && (
        <div class="table-wrap">
          <table class="plain">
            <thead>
              <tr>
                <th>When</th>
                <th>Outcome</th>
                <th class="num">Took</th>
                <th>Error</th>
                <th>Request</th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, 30).map((row) => (
                <>
                  <tr>
                    <td>
                      <TimeText at={row.at} />
                    </td>
                    <td class={row.outcome === "failed" ? "c-dead" : row.outcome === "succeeded" ? "c-ok" : "muted"}>
                      {row.outcome === "failed"
                        ? "✕ failed"
                        : row.outcome === "succeeded"
                          ? "✓ succeeded"
                          : row.outcome}
                    </td>
                    <td class="num">{row.durationMs === undefined ? "" : durationText(row.durationMs)}</td>
                    <td>
                      <Others text={[row.errorType, row.errorMessage].filter((t) => t).join(": ")} />
                    </td>
                    <td>
                      <button
                        type="button"
                        class="link mono"
                        aria-expanded={open === row.requestId}
                        onClick={() => replaceQuery({ run: open === row.requestId ? undefined : row.requestId })}
                      >
                        {row.requestId.slice(0, 8)}
                      </button>
                    </td>
                  </tr>
                  {open === row.requestId && (
                    <tr>
                      <td colSpan={5}>
                        <pre class="code">
                          <Others
                            text={lines.map((l) => l.text).join("\n") || "Its log is not kept any more."}
                            multiline
                          />
                        </pre>
                      </td>
                    </tr>
                  )}
                </>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Section>
  );
}

export function FunctionPage(): JSX.Element {
  const name = route.value.params.function ?? "";
  const read = useResource(`function ${name}`, () => getFunction(name));
  const mappings = useResource(`mappings ${name}`, () => listMappings({ FunctionName: name }));
  const f = read.value;
  return (
    <div class="page">
      <PageHead
        crumbs={[{ text: "Functions", href: links.functions() }, { text: name }]}
        title={<Others text={name} />}
      >
        {f && (
          <div class="facts">
            <span>
              runtime <b>{f.Runtime}</b>
            </span>
            <span>
              handler <b>{f.Handler}</b>
            </span>
            <span>
              timeout <b>{f.Timeout} s</b>
            </span>
            <span>
              memory <b>{countText(f.MemorySize ?? 0)} MB</b>
            </span>
            <span>
              code <b>{sizeText(f.CodeSize ?? 0)}</b>
            </span>
            <span>
              deployed{" "}
              <b>
                <TimeText at={f.LastModified} />
              </b>
            </span>
          </div>
        )}
      </PageHead>
      {read.error && <ErrorNote error={read.error} again={read.again} />}
      <div class="columns side">
        <div class="column">
          <Charts name={name} />
          <Invocations name={name} />
        </div>
        <div class="column">
          {mappings.error && <ErrorNote error={mappings.error} again={mappings.again} />}
          {(mappings.value ?? []).map((m) => (
            <MappingCard key={m.UUID} mapping={m} changed={mappings.again} />
          ))}
          {mappings.value?.length === 0 && (
            <Section title="Mappings">
              <p class="pad muted">No queue feeds this function.</p>
            </Section>
          )}
          {mayOperate.value && <TestEvent name={name} />}
        </div>
      </div>
    </div>
  );
}
