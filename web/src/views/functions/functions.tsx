// Functions of this server, and what they do at the moment.

import type { JSX } from "preact";
import { listFunctions } from "../../api/aws";
import { countText, functionOfArn, nameOfArn, percentText } from "../../model/format";
import { links } from "../../model/routes";
import { useResource } from "../../state/resource";
import { handlers } from "../../state/store";
import { CommandLine, EmptyState, ErrorNote, Others, PageHead, Skeleton, TimeText } from "../../ui/parts";

export function Functions(): JSX.Element {
  const read = useResource("functions", () => listFunctions());
  const all = read.value ?? [];
  return (
    <div class="page">
      <PageHead title="Functions">
        <div class="facts">
          <span>
            <b>{countText(all.length)}</b> functions
          </span>
          <span>
            <b>{countText(handlers.value.reduce((n, h) => n + (h.running ?? 0), 0))}</b> runs at this moment
          </span>
        </div>
      </PageHead>
      <section class="section" aria-label="Functions">
        {read.error && <ErrorNote error={read.error} again={read.again} />}
        {read.loading && !read.value && <Skeleton />}
        {read.value && all.length === 0 && (
          <EmptyState headline="No functions yet.">
            <p>A function works on the messages of a queue, in this server.</p>
            <CommandLine free command="redrive function deploy consumer ./consumer" />
          </EmptyState>
        )}
        {all.length > 0 && (
          <div class="table-wrap">
            <table class="plain">
              <thead>
                <tr>
                  <th>Function</th>
                  <th>Works on</th>
                  <th class="num">Running</th>
                  <th class="num">Messages</th>
                  <th class="num">Failed</th>
                  <th>Runtime</th>
                  <th class="num">Timeout</th>
                  <th>Deployed</th>
                </tr>
              </thead>
              <tbody>
                {all.map((f) => {
                  const own = handlers.value.filter((h) => functionOfArn(h.function ?? "") === f.FunctionName);
                  const sum = (pick: (h: (typeof own)[number]) => number | undefined): number =>
                    own.reduce((n, h) => n + (pick(h) ?? 0), 0);
                  const failed = sum((h) => h.failed);
                  const messages = sum((h) => h.messages);
                  return (
                    <tr>
                      <td>
                        <a href={links.function(f.FunctionName)}>
                          <Others text={f.FunctionName} />
                        </a>
                      </td>
                      <td>
                        {own
                          .filter((h) => h.queueArn)
                          .map((h) => (
                            <div>
                              <a href={links.queue(nameOfArn(h.queueArn ?? ""))}>{nameOfArn(h.queueArn ?? "")}</a>
                              {!h.enabled && <span class="muted"> paused</span>}
                            </div>
                          ))}
                      </td>
                      <td class="num">{countText(sum((h) => h.running))}</td>
                      <td class="num">{countText(messages)}</td>
                      <td class="num">
                        {failed > 0 ? (
                          <b class="c-dead" title={percentText(failed, messages)}>
                            {countText(failed)}
                          </b>
                        ) : (
                          "0"
                        )}
                      </td>
                      <td class="muted">{f.Runtime}</td>
                      <td class="num">{f.Timeout} s</td>
                      <td class="muted">
                        <TimeText at={f.LastModified} />
                      </td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
        )}
      </section>
    </div>
  );
}
