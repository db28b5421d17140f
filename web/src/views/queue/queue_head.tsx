// The head of every page about a queue.

import type { JSX } from "preact";
import { countText } from "../../model/format";
import { links } from "../../model/routes";
import { durationText } from "../../model/time";
import { deadLetterQueues, loaded, queues } from "../../state/store";
import { Others, PageHead, Tabs } from "../../ui/parts";

type Tab = "queue" | "messages" | "settings" | "bin";

export function QueueHead({ queue, tab }: { queue: string; tab: Tab }): JSX.Element {
  const row = queues.value.get(queue);
  const dead = deadLetterQueues.value.some((q) => q.name === queue);
  const tabs = [
    { text: "Overview", href: links.queue(queue), current: tab === "queue" },
    { text: "Messages", href: links.messages(queue), current: tab === "messages" },
    { text: "Settings", href: links.settings(queue), current: tab === "settings" },
    ...(dead || tab === "bin" ? [{ text: "Bin", href: links.bin(queue), current: tab === "bin" }] : []),
  ];
  return (
    <PageHead
      crumbs={[{ text: "Queues", href: links.queues() }, { text: queue }]}
      title={
        <>
          <Others text={queue} />
          {dead && <span class="badge outline">dead-letter queue</span>}
          {row?.fifo && <span class="badge outline">FIFO</span>}
        </>
      }
    >
      {row ? (
        <div class="facts">
          <span class={dead && (row.visible ?? 0) > 0 ? "dead" : ""}>
            <a href={links.messages(queue, { state: "visible" })}>{countText(row.visible ?? 0)}</a> visible
          </span>
          <span>
            <a href={links.messages(queue, { state: "in-flight" })}>{countText(row.inFlight ?? 0)}</a> in flight
          </span>
          <span>
            <a href={links.messages(queue, { state: "delayed" })}>{countText(row.delayed ?? 0)}</a> delayed
          </span>
          {(row.oldestAgeSeconds ?? 0) > 0 && (
            <span>
              oldest <b>{durationText((row.oldestAgeSeconds ?? 0) * 1000)}</b>
            </span>
          )}
          {row.deadLetterQueue && (
            <span>
              failures go to <a href={links.queue(row.deadLetterQueue)}>{row.deadLetterQueue}</a>
            </span>
          )}
          {(row.damaged ?? 0) > 0 && (
            <span class="warn">
              <b>{countText(row.damaged ?? 0)}</b> damaged
            </span>
          )}
        </div>
      ) : (
        loaded.value && <p class="muted">There is no queue of this name, or your key may not see it.</p>
      )}
      <Tabs label="Queue" items={tabs} />
    </PageHead>
  );
}
