// Purging and deleting: for good, so the queue's name has to be typed.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { exportMessages } from "../../api/additions";
import { deleteQueue } from "../../api/aws";
import { purgeQueue } from "../../api/manage";
import { countText, nounText } from "../../model/format";
import { links } from "../../model/routes";
import { download } from "../../state/notices";
import { useTask } from "../../state/resource";
import { navigate } from "../../state/router";
import { mayAdminister } from "../../state/session";
import { live, messagesIn, queues } from "../../state/store";
import { TypedConfirm } from "../../ui/overlay";
import { ErrorNote, Section } from "../../ui/parts";
import { panel } from "../redrive/redrive_state";

export function Danger({ queue }: { queue: string }): JSX.Element {
  const [asking, setAsking] = useState<"purge" | "delete" | undefined>(undefined);
  const [said, setSaid] = useState("");
  const task = useTask();
  const row = queues.value.get(queue);
  const count = row ? messagesIn(row) : 0;
  const lost = nounText(count, "message");
  const purge = (): Promise<void> =>
    task.run(async () => {
      const touched = await purgeQueue(queue, queue);
      setAsking(undefined);
      setSaid(`${nounText(touched.messages, "message is", "messages are")} gone.`);
      live.again();
    });
  const remove = (): Promise<void> =>
    task.run(async () => {
      await deleteQueue(queue);
      live.again(true);
      navigate(links.queues());
    });
  const exportAll = (): Promise<void> =>
    task.run(async () => download(`${queue}.ndjson`, await exportMessages(queue, {}, () => undefined)));
  const discard = (): void => {
    setAsking(undefined);
    panel.value = { kind: "discard", selection: { queue }, count, messageIds: [] };
  };
  return (
    <Section title="For good">
      <div class="pad stack">
        <div class="bar">
          <button type="button" class="danger" disabled={count === 0} onClick={() => setAsking("purge")}>
            Purge {countText(count)}…
          </button>
          {mayAdminister.value && (
            <button type="button" class="danger" onClick={() => setAsking("delete")}>
              Delete the queue…
            </button>
          )}
        </div>
        {said && <p class="muted">{said}</p>}
        {task.error && !asking && <ErrorNote error={task.error} />}
      </div>
      {asking && (
        <TypedConfirm
          title={asking === "purge" ? `Purge ${queue}?` : `Delete ${queue}?`}
          word={queue}
          button={asking === "purge" ? `Purge ${countText(count)}` : "Delete the queue"}
          running={task.running}
          close={() => setAsking(undefined)}
          confirm={() => void (asking === "purge" ? purge() : remove())}
        >
          <p>
            {lost} {count === 1 ? "is" : "are"} lost for good
            {asking === "delete" ? ", and the queue with its settings" : ""}. No bin keeps them.
          </p>
          <div class="bar">
            <button type="button" class="small" disabled={task.running} onClick={() => void exportAll()}>
              Export first
            </button>
            <button type="button" class="small" onClick={discard}>
              Discard instead (bin for 7 days)
            </button>
          </div>
          {task.error && <ErrorNote error={task.error} />}
        </TypedConfirm>
      )}
    </Section>
  );
}
