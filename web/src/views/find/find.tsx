// Searches all queues, bins and archives, page by page.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { findMessages } from "../../api/manage";
import type { FindHit } from "../../api/types.gen";
import { shellCommand } from "../../model/command_line";
import { countText, nameOfArn, shortId } from "../../model/format";
import { links } from "../../model/routes";
import { asApiError } from "../../state/resource";
import { replaceQuery, route } from "../../state/router";
import { CommandLine, EmptyState, ErrorNote, Others, PageHead } from "../../ui/parts";

interface Search {
  hits: FindHit[];
  scanned: number;
  total: number | undefined;
  mode: string;
  running: boolean;
}

const kNothing: Search = { hits: [], scanned: 0, total: undefined, mode: "", running: false };

export function Find(): JSX.Element {
  const q = route.value.query.get("q") ?? "";
  const [search, setSearch] = useState<Search>(kNothing);
  const [error, setError] = useState<ReturnType<typeof asApiError> | undefined>(undefined);
  const [stop, setStop] = useState<AbortController | undefined>(undefined);
  useEffect(() => {
    setSearch(kNothing);
    setError(undefined);
    if (!q) return undefined;
    const abort = new AbortController();
    setStop(abort);
    const run = async (): Promise<void> => {
      let after: string | undefined;
      let found: Search = { ...kNothing, running: true };
      setSearch(found);
      try {
        do {
          const page = await findMessages(q, after, abort.signal);
          after = page.next;
          found = {
            hits: [...found.hits, ...page.hits],
            scanned: found.scanned + page.scanned,
            total: page.total ?? found.total,
            mode: page.mode,
            running: after !== undefined,
          };
          setSearch(found);
        } while (after && found.hits.length < 1000 && !abort.signal.aborted);
      } catch (caught) {
        if (!abort.signal.aborted) setError(asApiError(caught));
      }
      setSearch({ ...found, running: false });
    };
    void run();
    return () => abort.abort();
  }, [q]);
  return (
    <div class="page">
      <PageHead title="Find">
        <form
          class="bar"
          onSubmit={(e) => {
            e.preventDefault();
            const field = e.currentTarget.elements.namedItem("q") as HTMLInputElement;
            replaceQuery({ q: field.value });
          }}
        >
          <input
            type="search"
            name="q"
            size={48}
            aria-label="Text or filter"
            placeholder="A text, an id or a filter"
            defaultValue={q}
          />
          <button type="submit">Find</button>
        </form>
      </PageHead>
      <section class="section" aria-label="Hits">
        {error && <ErrorNote error={error} />}
        {q && (
          <div class="search-progress">
            <span>
              {countText(search.hits.length)} found, {countText(search.scanned)}
              {search.total !== undefined && ` of ${countText(search.total)}`} looked at
              {search.mode && `, taken as a ${search.mode}`}
            </span>
            {search.running && (
              <button type="button" class="small" onClick={() => stop?.abort()}>
                Stop
              </button>
            )}
          </div>
        )}
        {q && !search.running && search.hits.length === 0 && !error && <EmptyState headline="Nothing found." />}
        {search.hits.length > 0 && (
          <div class="table-wrap">
            <table class="plain">
              <thead>
                <tr>
                  <th>Message</th>
                  <th>Where</th>
                  <th>Found in</th>
                  <th>Body</th>
                </tr>
              </thead>
              <tbody>
                {search.hits.slice(0, 500).map((hit) => (
                  <tr>
                    <td class="mono">
                      <a href={links.lineage(hit.lineageId)} title={hit.messageId}>
                        {shortId(hit.messageId)}
                      </a>
                    </td>
                    <td>
                      {hit.state.replace("-", " ")} ·{" "}
                      <a href={links.queue(nameOfArn(hit.queue))}>{nameOfArn(hit.queue)}</a>
                    </td>
                    <td class="muted">{hit.matched}</td>
                    <td class="mono">
                      <Others text={hit.message?.body?.slice(0, 120) ?? ""} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        {q && <CommandLine command={shellCommand(["redrive", "find", q])} />}
      </section>
    </div>
  );
}
