// Whether anything works on the queue that messages are about to be sent to.

import type { JSX } from "preact";
import { functionOfArn, nameOfArn } from "../../model/format";
import { handlers, queues } from "../../state/store";
import { Others } from "../../ui/parts";

export function ConsumerNote({ queue }: { queue: string }): JSX.Element | null {
  const row = queues.value.get(queue);
  if (!row) {
    return (
      <p class="warning-note">
        ⚠ There is no queue <Others text={queue} />.
      </p>
    );
  }
  const functions = handlers.value.filter((h) => nameOfArn(h.queueArn ?? "") === queue);
  const polling = functions.filter((h) => h.enabled && h.polling !== false).map((h) => functionOfArn(h.function ?? ""));
  if (polling.length > 0) {
    return (
      <p class="muted">
        <Others text={queue} /> feeds function <Others text={polling.join(", ")} />.
      </p>
    );
  }
  if (functions.length > 0) {
    return (
      <p class="warning-note">
        ⚠ The mapping from <Others text={queue} /> to <Others text={functionOfArn(functions[0]?.function ?? "")} /> is
        paused.
      </p>
    );
  }
  const receives = (row.received ?? 0) > 0;
  if (row.rates.out > 0 || (row.inFlight ?? 0) > 0) {
    return (
      <p class="muted">
        A consumer works on <Others text={queue} />.
      </p>
    );
  }
  return (
    <p class="warning-note">
      ⚠ {receives ? "No consumer is receiving from" : "No consumer has received from"} <Others text={queue} />{" "}
      {receives ? "at the moment." : "since the server started."}
    </p>
  );
}
