// Who did what.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { readAudit } from "../../api/additions";
import { ApiError } from "../../api/client";
import { useResource } from "../../state/resource";
import { replaceQuery, route } from "../../state/router";
import { CommandLine, EmptyState, ErrorNote, Others, PageHead, Skeleton, TimeText } from "../../ui/parts";

const kNames = ["who", "action", "resource"] as const;

export function Audit(): JSX.Element {
  const get = (name: string): string => route.value.query.get(name) ?? "";
  const query = { who: get("who"), action: get("action"), resource: get("resource") };
  const [after, setAfter] = useState<string | undefined>(undefined);
  const read = useResource(`audit ${JSON.stringify(query)} ${after ?? ""}`, () =>
    readAudit({ ...query, ...(after ? { after } : {}) }),
  );
  const entries = read.value?.entries ?? [];
  const unknown = read.error instanceof ApiError && read.error.isUnknownOperation;
  return (
    <div class="page">
      <PageHead title="Audit">
        <div class="bar">
          {kNames.map((name) => (
            <input
              type="search"
              placeholder={name}
              aria-label={name}
              value={query[name]}
              onChange={(e) => {
                setAfter(undefined);
                replaceQuery({ [name]: e.currentTarget.value });
              }}
            />
          ))}
        </div>
      </PageHead>
      <section class="section" aria-label="Audit log">
        {read.error && !unknown && <ErrorNote error={read.error} again={read.again} />}
        {unknown && (
          <EmptyState headline="This server does not show its audit log here.">
            <p>It is a file in the data directory:</p>
            <CommandLine free command="tail -f data/audit.ndjson" />
          </EmptyState>
        )}
        {read.loading && !read.value && <Skeleton />}
        {read.value && entries.length === 0 && <EmptyState headline="Nothing fits." />}
        {entries.length > 0 && (
          <div class="table-wrap">
            <table class="plain">
              <thead>
                <tr>
                  <th>When</th>
                  <th>Who</th>
                  <th>Action</th>
                  <th>Resource</th>
                  <th>Outcome</th>
                  <th>From</th>
                </tr>
              </thead>
              <tbody>
                {entries.map((e) => (
                  <tr>
                    <td>
                      <TimeText at={e.time} />
                    </td>
                    <td>
                      <Others text={e.who} />
                    </td>
                    <td>
                      <Others text={[e.service, e.action].filter((t) => t).join(" ")} />
                    </td>
                    <td class="mono">
                      <Others text={e.resource ?? ""} />
                    </td>
                    <td class={e.error ? "c-dead" : "muted"} title={e.error}>
                      <Others text={e.outcome} />
                    </td>
                    <td class="muted">
                      <Others text={e.from ?? ""} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        {read.value?.next && (
          <div class="pad">
            <button type="button" class="small" onClick={() => setAfter(read.value?.next)}>
              Earlier
            </button>
          </div>
        )}
      </section>
    </div>
  );
}
