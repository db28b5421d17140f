// Archived messages: buckets, their documents by day, restoring.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { type ArchivedDocument, restoreArchived, searchArchive } from "../../api/additions";
import { getObject, listBuckets } from "../../api/aws";
import { shellCommand } from "../../model/command_line";
import { countText, nounText, shortId, sizeText } from "../../model/format";
import { links } from "../../model/routes";
import { dayText } from "../../model/time";
import { useResource, useTask } from "../../state/resource";
import { replaceQuery, route } from "../../state/router";
import { mayOperate } from "../../state/session";
import { live } from "../../state/store";
import { CommandLine, EmptyState, ErrorNote, Others, PageHead, Section, Skeleton, TimeText } from "../../ui/parts";
import { Contents } from "../message/contents";

export function Archives(): JSX.Element {
  const read = useResource("buckets", () => listBuckets());
  const buckets = read.value ?? [];
  return (
    <div class="page">
      <PageHead title="Archive">
        <p class="muted">Messages that nothing will retry any more end as documents in a bucket, one each.</p>
      </PageHead>
      <section class="section" aria-label="Buckets">
        {read.error && <ErrorNote error={read.error} again={read.again} />}
        {read.loading && !read.value && <Skeleton />}
        {read.value && buckets.length === 0 && (
          <EmptyState headline="No buckets.">
            <CommandLine
              free
              command="redrive dlq policy orders-dlq --max-redrives 3 --then archive --archive graveyard/orders"
            />
          </EmptyState>
        )}
        {buckets.length > 0 && (
          <table class="plain">
            <thead>
              <tr>
                <th>Bucket</th>
              </tr>
            </thead>
            <tbody>
              {buckets.map((b) => (
                <tr>
                  <td>
                    <a href={links.archive(b)}>
                      <Others text={b} />
                    </a>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
    </div>
  );
}

function Document({ bucket, document }: { bucket: string; document: ArchivedDocument }): JSX.Element {
  const read = useResource(`object ${bucket} ${document.key}`, () => getObject(bucket, document.key));
  if (read.error) return <ErrorNote error={read.error} again={read.again} />;
  if (read.value === undefined) return <Skeleton />;
  return <Contents body={read.value} title="Document" />;
}

export function Archive(): JSX.Element {
  const bucket = route.value.params.bucket ?? "";
  const q = route.value.query.get("q") ?? "";
  const prefix = route.value.query.get("prefix") ?? "";
  const shown = route.value.query.get("doc") ?? "";
  const [after, setAfter] = useState<string | undefined>(undefined);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const read = useResource(`archive ${bucket} ${prefix} ${q} ${after ?? ""}`, () =>
    searchArchive(bucket, { prefix, q, after }),
  );
  const task = useTask();
  const [said, setSaid] = useState("");
  const documents = read.value?.documents ?? [];
  const open = documents.find((d) => d.key === shown) ?? documents[0];
  const restore = (): Promise<void> =>
    task.run(async () => {
      const result = await restoreArchived(bucket, { keys: [...ticked] });
      setSaid(
        `${nounText(result.restored, "message is", "messages are")} back.${result.problems ? ` ${result.problems.join(" ")}` : ""}`,
      );
      setTicked(new Set());
      live.again();
    });
  const days = new Map<string, ArchivedDocument[]>();
  for (const d of documents) {
    const day = d.archivedAt ? dayText(Date.parse(d.archivedAt), true) : "";
    days.set(day, [...(days.get(day) ?? []), d]);
  }
  const tick = (key: string, on: boolean): void => {
    const next = new Set(ticked);
    if (on) next.add(key);
    else next.delete(key);
    setTicked(next);
  };
  return (
    <div class="page">
      <PageHead
        crumbs={[{ text: "Archive", href: links.archives() }, { text: bucket }]}
        title={<Others text={bucket} />}
      >
        <div class="bar">
          <input
            type="search"
            placeholder="Search documents"
            aria-label="Search documents"
            value={q}
            onChange={(e) => {
              setAfter(undefined);
              replaceQuery({ q: e.currentTarget.value });
            }}
          />
          <input
            placeholder="Prefix"
            aria-label="Prefix"
            value={prefix}
            onChange={(e) => {
              setAfter(undefined);
              replaceQuery({ prefix: e.currentTarget.value });
            }}
          />
          {mayOperate.value && (
            <button
              type="button"
              class="primary"
              disabled={ticked.size === 0 || task.running}
              onClick={() => void restore()}
            >
              Restore {countText(ticked.size)}
            </button>
          )}
          {said && (
            <span class="muted">
              <Others text={said} />
            </span>
          )}
        </div>
        {task.error && <ErrorNote error={task.error} />}
      </PageHead>
      <div class="columns side">
        <section class="section" aria-label="Documents">
          {read.error && <ErrorNote error={read.error} again={read.again} />}
          {read.loading && !read.value && <Skeleton />}
          {read.value && documents.length === 0 && (
            <EmptyState headline="No documents.">
              {(q || prefix) && (
                <button type="button" onClick={() => replaceQuery({ q: undefined, prefix: undefined })}>
                  Clear
                </button>
              )}
            </EmptyState>
          )}
          {[...days].map(([day, list]) => (
            <>
              <div class="selection-bar">
                <b>{day || "without a day"}</b>
                <span class="muted">{nounText(list.length, "document")}</span>
              </div>
              <table class="plain">
                <tbody>
                  {list.map((d) => (
                    <tr aria-selected={d === open}>
                      {mayOperate.value && (
                        <td>
                          <input
                            type="checkbox"
                            aria-label={`Select ${d.key}`}
                            checked={ticked.has(d.key)}
                            onChange={(e) => tick(d.key, e.currentTarget.checked)}
                          />
                        </td>
                      )}
                      <td>
                        <button
                          type="button"
                          class="link mono"
                          title={d.key}
                          onClick={() => replaceQuery({ doc: d.key })}
                        >
                          {d.messageId ? shortId(d.messageId) : d.key}
                        </button>
                        {d.preview && (
                          <span class="faint mono">
                            {" "}
                            <Others text={d.preview} />
                          </span>
                        )}
                      </td>
                      <td>
                        <Others text={d.queue ?? ""} />
                      </td>
                      <td class="num">{sizeText(d.size)}</td>
                      <td class="muted">
                        <TimeText at={d.archivedAt} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </>
          ))}
          {read.value?.next && (
            <div class="pad">
              <button type="button" class="small" onClick={() => setAfter(read.value?.next)}>
                Next
              </button>
            </div>
          )}
        </section>
        <div class="column">
          {open && <Document key={open.key} bucket={bucket} document={open} />}
          <Section title="Command">
            <CommandLine
              command={shellCommand([
                "redrive",
                "archive",
                "restore",
                `s3://${bucket}/${prefix}`,
                ...(open?.messageId ? [open.messageId] : []),
              ])}
            />
          </Section>
        </div>
      </div>
    </div>
  );
}
