// What was discarded from a queue, and originals that an edit replaced.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { peekBin, restoreMessages } from "../../api/manage";
import type { Message } from "../../api/types.gen";
import { countText, nounText, shortId } from "../../model/format";
import { links } from "../../model/routes";
import { useResource, useTask } from "../../state/resource";
import { route } from "../../state/router";
import { mayOperate, whyNot } from "../../state/session";
import { live } from "../../state/store";
import { CommandLine, EmptyState, ErrorNote, Others, Section, Skeleton, TimeText } from "../../ui/parts";
import { QueueHead } from "../queue/queue_head";

function lastEvent(message: Message): { what: string; at: string; actor?: string; reason?: string } | undefined {
  return message.events?.findLast((e) => e.what === "discarded" || e.what === "replaced");
}

export function Bin(): JSX.Element {
  const { queue = "" } = route.value.params;
  const [after, setAfter] = useState<string | undefined>(undefined);
  const read = useResource(`bin ${queue} ${after ?? ""}`, () => peekBin(queue, { limit: 100, after }));
  const task = useTask();
  const [said, setSaid] = useState("");
  const messages = read.value?.messages ?? [];
  const may = mayOperate.value && whyNot(queue) === undefined;
  const restore = (body: { keys?: number[]; all?: boolean }): Promise<void> =>
    task.run(async () => {
      let done = 0;
      for (let more = true; more; ) {
        const touched = await restoreMessages(queue, body);
        done += touched.messages;
        more = touched.more && touched.messages > 0;
      }
      setSaid(`${nounText(done, "message is", "messages are")} back in ${queue}.`);
      live.again();
      read.again();
    });
  const discarded = messages.filter((m) => lastEvent(m)?.what !== "replaced").length;
  return (
    <div class="page">
      <QueueHead queue={queue} tab="bin" />
      <Section
        title="Bin"
        aside={
          may &&
          discarded > 0 && (
            <button type="button" class="small" disabled={task.running} onClick={() => void restore({ all: true })}>
              Take back all that was discarded
            </button>
          )
        }
      >
        {read.error && <ErrorNote error={read.error} again={read.again} />}
        {task.error && <ErrorNote error={task.error} />}
        {said && <p class="pad c-ok">{said}</p>}
        {read.loading && !read.value && <Skeleton />}
        {read.value && messages.length === 0 && (
          <EmptyState headline="The bin is empty.">
            <p>Discarded messages and originals of edits rest here for 7 days.</p>
            <CommandLine free command={`redrive dlq discard ${queue} MESSAGE_ID`} />
          </EmptyState>
        )}
        {messages.length > 0 && (
          <div class="table-wrap">
            <table class="plain">
              <thead>
                <tr>
                  <th>Message</th>
                  <th>What</th>
                  <th>When</th>
                  <th>Gone</th>
                  <th>By</th>
                  <th>Body</th>
                  <th />
                </tr>
              </thead>
              <tbody>
                {messages.map((m) => {
                  const event = lastEvent(m);
                  return (
                    <tr>
                      <td class="mono">
                        <a href={links.lineage(m.lineageId)} title={m.messageId}>
                          {shortId(m.messageId)}
                        </a>
                      </td>
                      <td>{event?.what === "replaced" ? "original of an edit" : "discarded"}</td>
                      <td>
                        <TimeText at={event?.at} />
                      </td>
                      <td>
                        <TimeText at={m.expiresAt} />
                      </td>
                      <td>
                        <Others text={[event?.actor, event?.reason].filter((t) => t).join(": ")} />
                      </td>
                      <td class="mono">
                        <Others text={m.body.slice(0, 80)} />
                      </td>
                      <td class="num">
                        {may && (
                          <button
                            type="button"
                            class="small"
                            disabled={task.running}
                            onClick={() => void restore({ keys: [m.key] })}
                          >
                            Take back
                          </button>
                        )}
                      </td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
        )}
        {(after !== undefined || read.value?.next) && (
          <div class="pad bar">
            {after !== undefined && (
              <button type="button" class="small" onClick={() => setAfter(undefined)}>
                From the start
              </button>
            )}
            {read.value?.next && (
              <button type="button" class="small" onClick={() => setAfter(read.value?.next)}>
                Next {countText(100)}
              </button>
            )}
          </div>
        )}
      </Section>
    </div>
  );
}
