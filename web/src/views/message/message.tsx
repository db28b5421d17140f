// The page of one message.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { discardMessages, restoreMessages } from "../../api/manage";
import type { Message } from "../../api/types.gen";
import { nameOfArn, shortId } from "../../model/format";
import { links } from "../../model/routes";
import { useActions } from "../../state/actions";
import { toast } from "../../state/notices";
import { useTask } from "../../state/resource";
import { navigate, route } from "../../state/router";
import { whyNot } from "../../state/session";
import { CopyButton, ErrorNote, Others, PageHead, Skeleton, TimeText } from "../../ui/parts";
import { MessageMark } from "../../ui/status";
import { LazyEditor } from "../edit/lazy_editor";
import { openRedrive, panel } from "../redrive/redrive_state";
import { Attributes } from "./attributes";
import { Contents } from "./contents";
import { ErrorSummary, Life, MaskedNote, MovedNote, useMessage } from "./message_pane";

function MessageFacts({ message, queue }: { message: Message; queue: string }): JSX.Element {
  const source = message.deadLetterSource ? nameOfArn(message.deadLetterSource) : undefined;
  return (
    <div class="facts">
      <span>
        in <a href={links.queue(queue)}>{queue}</a>
      </span>
      {source && (
        <span>
          from <a href={links.queue(source)}>{source}</a>
        </span>
      )}
      <span>
        sent{" "}
        <b>
          <TimeText at={message.sentAt} />
        </b>
      </span>
      <span>
        received <b>{message.receiveCount}</b> times
      </span>
      <span>
        redriven <b>{message.redrives}</b> times
      </span>
      <span>
        expires{" "}
        <b>
          <TimeText at={message.expiresAt} />
        </b>
      </span>
      {message.senderId && (
        <span>
          sender <b>{<Others text={message.senderId} />}</b>
        </span>
      )}
      {message.failureGroup && (
        <span>
          <a href={links.group(queue, message.failureGroup)}>group {shortId(message.failureGroup)}</a>
        </span>
      )}
    </div>
  );
}

export function MessagePage(): JSX.Element {
  const { queue = "", key = "" } = route.value.params;
  const number = Number(key);
  const shown = useMessage(queue, Number.isSafeInteger(number) ? number : undefined);
  const editing = route.value.query.get("edit") === "1";
  const [discarded, setDiscarded] = useState(false);
  const task = useTask();
  const message = shown.read.value;
  const refusal = whyNot(queue);
  const isDead = message?.deadLetterSource !== undefined;

  const redrive = (): void => {
    if (message) openRedrive({ queue, keys: [message.key] }, 1, { messageIds: [message.messageId] });
  };
  const tryIt = (): void => {
    if (message) panel.value = { kind: "try", queue, key: message.key, messageId: message.messageId };
  };
  const edit = (): void => navigate(`${links.message(queue, number)}?edit=1`);
  const discard = (): Promise<void> =>
    task.run(async () => {
      await discardMessages(queue, { keys: [number] });
      setDiscarded(true);
      toast("1 message is in the bin for 7 days.", {
        label: "Undo",
        run: () => void restoreMessages(queue, { keys: [number] }).then(shown.read.again),
      });
    });
  const acts = message !== undefined && refusal === undefined && !editing;
  useActions(
    acts
      ? [
          ...(isDead ? [{ id: "redrive", label: "Redrive 1…", key: "r", run: redrive }] : []),
          ...(isDead ? [{ id: "try", label: "Try on a copy", key: "t", run: tryIt }] : []),
          { id: "edit", label: "Edit & redrive", key: "e", run: edit },
          { id: "discard", label: "Discard 1", run: () => void discard() },
        ]
      : [],
  );

  const crumbs = [
    { text: "Queues", href: links.queues() },
    { text: queue, href: links.queue(queue) },
    { text: "Messages", href: links.messages(queue) },
    { text: message ? shortId(message.messageId, 8, 4) : key },
  ];
  if (!message) {
    return (
      <div class="page">
        <PageHead crumbs={crumbs} title="Message" />
        {shown.read.error ? <MovedNote id={undefined} error={shown.read.error} /> : <Skeleton />}
      </div>
    );
  }
  return (
    <div class="page">
      <PageHead
        crumbs={crumbs}
        title={
          <>
            <span class="mono">{message.messageId}</span>
            <CopyButton text={message.messageId} label="Copy the message id" />
            <MessageMark message={message} />
          </>
        }
      >
        <MessageFacts message={message} queue={queue} />
        {refusal === undefined && !editing && (
          <div class="bar">
            {isDead && (
              <button type="button" class="primary" onClick={redrive}>
                Redrive 1… <kbd>R</kbd>
              </button>
            )}
            {isDead && (
              <button type="button" onClick={tryIt}>
                Try on a copy <kbd>T</kbd>
              </button>
            )}
            <button type="button" onClick={edit}>
              Edit… <kbd>E</kbd>
            </button>
            <button type="button" class="danger" disabled={task.running || discarded} onClick={() => void discard()}>
              Discard 1
            </button>
          </div>
        )}
        {task.error && <ErrorNote error={task.error} />}
      </PageHead>
      {shown.read.error?.status === 404 && <MovedNote id={message.messageId} error={shown.read.error} />}
      <div class="columns side">
        <div class="column">
          {editing ? (
            <LazyEditor
              queue={queue}
              message={message}
              close={() => navigate(links.message(queue, number))}
              saved={() => shown.read.again()}
            />
          ) : (
            <>
              <MaskedNote shown={shown} />
              <Contents body={message.body} title="Body" />
              <Attributes message={message} />
              <ErrorSummary message={message} />
            </>
          )}
        </div>
        <div class="column">
          <Life message={message} />
        </div>
      </div>
    </div>
  );
}
