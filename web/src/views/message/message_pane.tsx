// One message beside a list: contents, attributes, what it has been through.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ApiError } from "../../api/client";
import { showLineage, showMessage } from "../../api/manage";
import type { Message } from "../../api/types.gen";
import { nameOfArn, nounText, shortId } from "../../model/format";
import { errorTitle, lifeOf, tellingAttempt } from "../../model/life";
import { links } from "../../model/routes";
import { type Resource, useResource } from "../../state/resource";
import { isReader } from "../../state/session";
import { epoch } from "../../state/store";
import { CopyButton, ErrorNote, Others, Section, Skeleton, TimeText } from "../../ui/parts";
import { MessageMark } from "../../ui/status";
import { StackTrace } from "../../ui/text_views";
import { Timeline } from "../../ui/timeline";
import { Attributes } from "./attributes";
import { type Clause, Contents } from "./contents";

export interface ShownMessage {
  read: Resource<Message>;
  revealed: boolean;
  reveal: (on: boolean) => void;
}

// *Reveal* holds for one message and ends when it is left.
export function useMessage(queue: string, key: number | undefined, trigger: unknown = 0): ShownMessage {
  const [revealed, setRevealed] = useState<number | undefined>(undefined);
  const on = key !== undefined && revealed === key;
  const read = useResource(
    key === undefined ? undefined : `message ${queue} ${key} ${on}`,
    (signal) => showMessage(queue, key ?? 0, on, signal),
    `${trigger} ${epoch.value}`,
  );
  useEffect(() => () => setRevealed(undefined), [key]);
  return { read, revealed: on, reveal: (r) => setRevealed(r ? key : undefined) };
}

export function MaskedNote({ shown }: { shown: ShownMessage }): JSX.Element | null {
  const message = shown.read.value;
  if (!message) return null;
  const hasMask = message.body.includes("***") || JSON.stringify(message.attributes ?? {}).includes("***");
  if (shown.revealed) {
    return (
      <p class="masked-note">
        Secrets are shown; the audit log says so.{" "}
        <button type="button" class="link" onClick={() => shown.reveal(false)}>
          Hide
        </button>
      </p>
    );
  }
  if (!message.masked || !hasMask) return null;
  return (
    <p class="masked-note">
      Values that look like secrets are masked.{" "}
      {!isReader.value && (
        <button type="button" class="link" onClick={() => shown.reveal(true)}>
          Reveal
        </button>
      )}
    </p>
  );
}

// The message is not here any more: says where it is now.
export function MovedNote({ id, error }: { id: string | undefined; error: ApiError }): JSX.Element {
  const found = useResource(id ? `moved ${id}` : undefined, (signal) => showLineage(id ?? "", signal));
  const place = found.value?.places.at(-1);
  if (!place) return <ErrorNote error={error} />;
  const queue = nameOfArn(place.queue);
  const since = place.processedAt ?? place.archivedAt ?? place.events?.at(-1)?.at;
  const words: Record<string, string> = {
    "in-queue": "It is in",
    "in-bin": "It is in the bin of",
    processed: "It was processed in",
    archived: "It was archived from",
    restored: "It came back to",
    damaged: "It was set aside as damaged from",
  };
  return (
    <div class="moved-note">
      {words[place.state] ?? "It is in"} <a href={links.lineage(id ?? "")}>{queue}</a> now
      {since && (
        <>
          , since <TimeText at={since} />
        </>
      )}
      .
    </div>
  );
}

export function ErrorSummary({ message }: { message: Message }): JSX.Element | null {
  const telling = tellingAttempt(message.attempts ?? []);
  if (!telling) return null;
  return (
    <Section title="Error" aside={telling.by ? <Others text={telling.by.replace(/^function:/, "")} /> : undefined}>
      <p class="error-title">
        <Others text={errorTitle(telling)} />
      </p>
      {telling.stackTrace && <StackTrace trace={telling.stackTrace} />}
    </Section>
  );
}

export function Life({ message }: { message: Message }): JSX.Element {
  const attempts = message.attempts ?? [];
  const events = message.events ?? [];
  const aside = [
    nounText(message.attemptsTotal, "attempt"),
    message.redrives > 0 ? nounText(message.redrives, "redrive") : "",
  ].filter((t) => t);
  return (
    <Section
      title="What it has been through"
      aside={<a href={links.lineage(message.lineageId)}>{aside.join(" · ")}</a>}
    >
      <Timeline life={lifeOf(message.sentAt, attempts, events, message.attemptsTotal)} origin={message.origin} />
    </Section>
  );
}

export function MessagePane(props: {
  queue: string;
  messageKey: number | undefined;
  messageId?: string | undefined;
  onClause?: Clause | undefined;
  withError?: boolean;
  trigger?: unknown;
}): JSX.Element | null {
  const shown = useMessage(props.queue, props.messageKey, props.trigger);
  const { value: message, error, loading, again } = shown.read;
  if (props.messageKey === undefined) return null;
  if (error && error.status === 404) return <MovedNote id={props.messageId ?? message?.messageId} error={error} />;
  if (error && !message) return <ErrorNote error={error} again={again} />;
  if (!message) return loading ? <Skeleton rows={6} /> : null;
  return (
    <div class="column message-pane" aria-label="Message" role="region">
      <div class="message-head">
        <a class="mono" href={links.message(props.queue, message.key)} title={message.messageId}>
          {shortId(message.messageId, 8, 4)}
        </a>
        <CopyButton text={message.messageId} label="Copy the message id" />
        <MessageMark message={message} />
        <span class="muted">
          <TimeText at={message.sentAt} />
        </span>
      </div>
      <MaskedNote shown={shown} />
      <Contents body={message.body} title="Body" onClause={props.onClause} />
      <Attributes message={message} onClause={props.onClause} />
      {props.withError && <ErrorSummary message={message} />}
      <Life message={message} />
    </div>
  );
}
