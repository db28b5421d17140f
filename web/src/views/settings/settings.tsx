// A queue's settings: attributes, dead-letter queue, policy, tags; sending a message; purging and deleting.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { getQueueAttributes, listQueueTags, setQueueAttributes, tagQueue, untagQueue } from "../../api/aws";
import { shellCommand } from "../../model/command_line";
import { nameOfArn, sizeText } from "../../model/format";
import { links } from "../../model/routes";
import { durationText } from "../../model/time";
import { type Resource, useResource, useTask } from "../../state/resource";
import { route } from "../../state/router";
import { mayOperate, whyNot } from "../../state/session";
import { deadLetterQueues, queueNames } from "../../state/store";
import { CommandLine, ErrorNote, Icon, Others, Section, Skeleton } from "../../ui/parts";
import { QueueHead } from "../queue/queue_head";
import { kAttributes, type QueueAttribute, redriveTarget } from "./attribute_list";
import { Danger } from "./danger";
import { PolicyEditor } from "./policy_editor";
import { SendForm } from "./send_form";

type Attributes = Resource<{ Attributes?: Record<string, string> }>;

function shown(attribute: QueueAttribute, value: string): string {
  const n = Number(value);
  if (attribute.unit === "bytes") return sizeText(n);
  return attribute.unit === "seconds" ? (n === 0 ? "none" : durationText(n * 1000)) : value;
}

function AttributeRow({
  queue,
  attribute,
  read,
  may,
}: {
  queue: string;
  attribute: QueueAttribute;
  read: Attributes;
  may: boolean;
}): JSX.Element {
  const value = read.value?.Attributes?.[attribute.name] ?? attribute.usual;
  const [edited, setEdited] = useState<string | undefined>(undefined);
  const task = useTask();
  const save = (): Promise<void> =>
    task.run(async () => {
      await setQueueAttributes(queue, { [attribute.name]: edited ?? value });
      setEdited(undefined);
      read.again();
    });
  return (
    <div class="setting">
      <div class="what">
        <b>{attribute.title}</b>
        <code>{attribute.name}</code>
      </div>
      <div class="value">
        {edited === undefined ? (
          <>
            <span>{shown(attribute, value)}</span>
            {value !== attribute.usual && <span class="faint">usual: {shown(attribute, attribute.usual)}</span>}
            {may && (
              <button type="button" class="small plain" onClick={() => setEdited(value)}>
                Change
              </button>
            )}
          </>
        ) : (
          <>
            <input
              type="number"
              min={attribute.min}
              max={attribute.max}
              aria-label={`${attribute.title} in ${attribute.unit ?? ""}`}
              value={edited}
              onInput={(e) => setEdited(e.currentTarget.value)}
            />
            <span class="muted">{attribute.unit}</span>
            <button type="button" class="small" disabled={task.running || edited === value} onClick={() => void save()}>
              Save
            </button>
            <button type="button" class="small plain" onClick={() => setEdited(undefined)}>
              Leave
            </button>
          </>
        )}
      </div>
      <p class="explained">{attribute.explained}</p>
      {edited !== undefined && edited !== value && (
        <div class="explained">
          <CommandLine free command={shellCommand(["redrive", "queue", "set", queue, `${attribute.name}=${edited}`])} />
        </div>
      )}
      {task.error && <ErrorNote error={task.error} />}
    </div>
  );
}

function DeadLetterRow({ queue, read, may }: { queue: string; read: Attributes; may: boolean }): JSX.Element {
  const target = redriveTarget(read.value?.Attributes);
  const name = target.deadLetterTargetArn ? nameOfArn(target.deadLetterTargetArn) : "";
  const [edited, setEdited] = useState<{ name: string; count: string } | undefined>(undefined);
  const task = useTask();
  const arn = (other: string): string => (read.value?.Attributes?.QueueArn ?? "").replace(/[^:]*$/, other);
  const save = (): Promise<void> =>
    task.run(async () => {
      const policy = edited?.name
        ? JSON.stringify({ deadLetterTargetArn: arn(edited.name), maxReceiveCount: Number(edited.count) })
        : "";
      await setQueueAttributes(queue, { RedrivePolicy: policy });
      setEdited(undefined);
      read.again();
    });
  return (
    <div class="setting">
      <div class="what">
        <b>Dead-letter queue</b>
        <code>RedrivePolicy</code>
      </div>
      <div class="value">
        {edited === undefined ? (
          <>
            {name ? (
              <span>
                <a href={links.queue(name)}>{name}</a> after {target.maxReceiveCount} receives
              </span>
            ) : (
              <span class="muted">none</span>
            )}
            {may && (
              <button
                type="button"
                class="small plain"
                onClick={() => setEdited({ name, count: String(target.maxReceiveCount ?? 3) })}
              >
                Change
              </button>
            )}
          </>
        ) : (
          <>
            <input
              list="settings-queues"
              aria-label="Dead-letter queue"
              placeholder="none"
              value={edited.name}
              onInput={(e) => setEdited({ ...edited, name: e.currentTarget.value })}
            />
            <datalist id="settings-queues">
              {queueNames.value.map((n) => (
                <option value={n} />
              ))}
            </datalist>
            <span class="muted">after</span>
            <input
              type="number"
              min={1}
              max={1000}
              aria-label="Receives"
              value={edited.count}
              onInput={(e) => setEdited({ ...edited, count: e.currentTarget.value })}
            />
            <span class="muted">receives</span>
            <button type="button" class="small" disabled={task.running} onClick={() => void save()}>
              Save
            </button>
            <button type="button" class="small plain" onClick={() => setEdited(undefined)}>
              Leave
            </button>
          </>
        )}
      </div>
      <p class="explained">Where a message goes that was received so often and never deleted.</p>
      {task.error && <ErrorNote error={task.error} />}
    </div>
  );
}

function Tags({ queue, may }: { queue: string; may: boolean }): JSX.Element {
  const read = useResource(`tags ${queue}`, () => listQueueTags(queue));
  const [text, setText] = useState("");
  const task = useTask();
  const change = (work: () => Promise<void>): Promise<void> =>
    task.run(async () => {
      await work();
      setText("");
      read.again();
    });
  const tags = Object.entries(read.value?.Tags ?? {});
  return (
    <Section title="Tags">
      <div class="pad stack">
        {read.error && <ErrorNote error={read.error} again={read.again} />}
        {tags.length === 0 && read.value && <p class="muted">No tags.</p>}
        <div class="chips">
          {tags.map(([key, value]) => (
            <span class="chip code">
              <Others text={`${key}=${value}`} />
              {may && (
                <button
                  type="button"
                  class="icon"
                  aria-label={`Remove ${key}`}
                  onClick={() => void change(() => untagQueue(queue, [key]))}
                >
                  <Icon name="x" />
                </button>
              )}
            </span>
          ))}
        </div>
        {may && (
          <form
            class="bar"
            onSubmit={(e) => {
              e.preventDefault();
              const [key = "", ...rest] = text.split("=");
              if (key) void change(() => tagQueue(queue, { [key]: rest.join("=") }));
            }}
          >
            <input
              aria-label="New tag"
              placeholder="team=payments"
              value={text}
              onInput={(e) => setText(e.currentTarget.value)}
            />
            <button type="submit" class="small" disabled={!text || task.running}>
              Add
            </button>
          </form>
        )}
        {task.error && <ErrorNote error={task.error} />}
      </div>
    </Section>
  );
}

export function Settings(): JSX.Element {
  const { queue = "" } = route.value.params;
  const read = useResource(`attributes ${queue}`, () => getQueueAttributes(queue));
  const may = mayOperate.value && whyNot(queue) === undefined;
  const dead = deadLetterQueues.value.some((q) => q.name === queue);
  return (
    <div class="page">
      <QueueHead queue={queue} tab="settings" />
      <div class="columns side">
        <div class="column">
          <Section title="Settings">
            {read.error && <ErrorNote error={read.error} again={read.again} />}
            {!read.value && !read.error && <Skeleton rows={8} />}
            {read.value && (
              <>
                {kAttributes.map((a) => (
                  <AttributeRow key={`${queue} ${a.name}`} queue={queue} attribute={a} read={read} may={may} />
                ))}
                <DeadLetterRow key={`${queue} dlq`} queue={queue} read={read} may={may} />
              </>
            )}
          </Section>
          {dead && <PolicyEditor key={queue} queue={queue} may={may} />}
          <Tags queue={queue} may={may} />
        </div>
        <div class="column">
          {may && <SendForm key={queue} queue={queue} />}
          {may && <Danger key={`${queue} danger`} queue={queue} />}
        </div>
      </div>
    </div>
  );
}
