// The life of a message: sent, attempts, dead-lettered, redriven, and so on, as one list.

import type { ComponentChildren, JSX } from "preact";
import { consumerText, nameOfArn, shortId } from "../model/format";
import { type AttemptLike, type EventLike, errorTitle, type LifeEntry } from "../model/life";
import { links } from "../model/routes";
import { durationText } from "../model/time";
import { Others, TimeText } from "./parts";

const kEnds: Record<string, string> = {
  open: "is being processed",
  released: "was released",
  "visibility-expired": "ended with the visibility timeout",
  failed: "failed",
  processed: "processed",
};

const kEvents: Record<string, string> = {
  "dead-lettered": "dead letter",
  redriven: "redriven",
  edited: "edited",
  discarded: "put into the bin",
  restored: "taken back from the bin",
  archived: "archived",
  unarchived: "came back from the archive",
  replaced: "replaced by an edit",
  damaged: "found damaged",
  processed: "processed",
  tried: "tried on a copy",
};

function attemptWords(entry: { attempts: AttemptLike[]; numbers: number[] }): ComponentChildren {
  const [first] = entry.numbers;
  const last = entry.numbers.at(-1);
  const attempt = entry.attempts.at(-1);
  const which = first === last ? `attempt ${first}` : `attempts ${first}–${last}`;
  const took = attempt?.durationMs === undefined ? "" : ` · ${durationText(attempt.durationMs)}`;
  return `${which} ${kEnds[attempt?.end ?? ""] ?? attempt?.end}${took}${entry.attempts.length > 1 ? ` ×${entry.attempts.length}` : ""}`;
}

function AttemptDetails({ attempt }: { attempt: AttemptLike }): JSX.Element | null {
  if (!attempt.stackTrace && !attempt.log) return null;
  return (
    <details>
      <summary>{attempt.stackTrace && attempt.log ? "stack and log" : attempt.stackTrace ? "stack" : "log"}</summary>
      {attempt.stackTrace && (
        <pre class="code">
          <Others text={attempt.stackTrace} multiline />
        </pre>
      )}
      {attempt.log && (
        <pre class="code">
          <Others text={attempt.log} multiline />
        </pre>
      )}
    </details>
  );
}

function attemptBy(attempt: AttemptLike): string {
  const by = attempt.by ? `by ${consumerText(attempt.by)}` : "";
  const code = attempt.code ? `code ${attempt.code}` : "";
  const shared = attempt.shared ? `error of its batch of ${attempt.company ?? "several"}` : "";
  return [by, code, shared].filter((t) => t).join(" · ");
}

function EventWords({ event }: { event: EventLike }): JSX.Element {
  const from = event.from ? nameOfArn(event.from) : undefined;
  const why =
    event.why === "receive-count"
      ? "received too often"
      : event.why === "reported"
        ? "as its consumer said"
        : undefined;
  return (
    <>
      {kEvents[event.what] ?? event.what}
      {event.what === "dead-lettered" && from && (
        <>
          {" from "}
          <a href={links.queue(from)}>
            <Others text={from} />
          </a>
        </>
      )}
      {why && `, ${why}`}
    </>
  );
}

function eventBelow(event: EventLike): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  if (event.actor) parts.push(`by ${event.actor}`);
  if (event.job) parts.push(<a href={links.job(event.job)}>job {shortId(event.job)}</a>);
  if (event.reason) parts.push(<Others text={`“${event.reason}”`} />);
  return parts.flatMap((p, i) => (i === 0 ? [p] : [" · ", p]));
}

export function Timeline(props: {
  life: LifeEntry<AttemptLike, EventLike>[];
  origin?: string | undefined;
}): JSX.Element {
  return (
    <ol class="timeline linked">
      {props.life.map((entry) => {
        switch (entry.kind) {
          case "sent":
            return (
              <li>
                <i class="point" />
                <span>
                  sent
                  {props.origin && (
                    <>
                      {" to "}
                      <a href={links.queue(nameOfArn(props.origin))}>
                        <Others text={nameOfArn(props.origin)} />
                      </a>
                    </>
                  )}
                </span>
                <TimeText at={entry.at} style="clock" />
              </li>
            );
          case "gap":
            return (
              <li>
                <i class="point" />
                <span class="faint">{entry.count} attempts not kept</span>
                <span />
              </li>
            );
          case "attempts": {
            const attempt = entry.attempts.at(-1) as AttemptLike;
            return (
              <li class={attempt.end === "failed" || attempt.end === "visibility-expired" ? "failed" : attempt.end}>
                <i class="point" />
                <span>{attemptWords(entry)}</span>
                <TimeText at={entry.at} style="clock" />
                {errorTitle(attempt) && (
                  <span class="below">
                    <Others text={errorTitle(attempt)} />
                  </span>
                )}
                {attemptBy(attempt) && (
                  <span class="below faint">
                    <Others text={attemptBy(attempt)} />
                  </span>
                )}
                <AttemptDetails attempt={attempt} />
              </li>
            );
          }
          default: {
            const below = eventBelow(entry.event);
            return (
              <li class={entry.event.what}>
                <i class="point" />
                <span>
                  <EventWords event={entry.event} />
                </span>
                <TimeText at={entry.at} style="clock" />
                {below.length > 0 && <span class="below">{below}</span>}
              </li>
            );
          }
        }
      })}
    </ol>
  );
}
