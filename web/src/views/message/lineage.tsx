// Every place where a message is or was, by any id that it has or had.

import type { JSX } from "preact";
import { showLineage } from "../../api/manage";
import type { LineagePlace } from "../../api/types.gen";
import { nameOfArn, nounText } from "../../model/format";
import { lifeOf } from "../../model/life";
import { links } from "../../model/routes";
import { useResource } from "../../state/resource";
import { route } from "../../state/router";
import { epoch } from "../../state/store";
import {
  CommandLine,
  CopyButton,
  EmptyState,
  ErrorNote,
  Others,
  PageHead,
  Section,
  Skeleton,
  TimeText,
} from "../../ui/parts";
import { Timeline } from "../../ui/timeline";

const kStates: Record<string, string> = {
  "in-queue": "in",
  "in-bin": "in the bin of",
  damaged: "set aside as damaged from",
  archived: "archived from",
  restored: "archived and came back to",
  processed: "processed in",
};

function Place({ place }: { place: LineagePlace }): JSX.Element {
  const queue = nameOfArn(place.queue);
  const at = place.processedAt ?? place.restoredAt ?? place.archivedAt;
  const first = place.attempts?.[0]?.receivedAt ?? place.events?.[0]?.at ?? at ?? "";
  return (
    <Section
      title={
        <>
          {kStates[place.state] ?? place.state} <Others text={queue} />
        </>
      }
      aside={
        <>
          {at && <TimeText at={at} />}
          {place.state === "in-queue" && place.key !== undefined && <a href={links.message(queue, place.key)}>Open</a>}
          {place.state === "in-bin" && <a href={links.bin(queue)}>Bin</a>}
          {place.job && <a href={links.job(place.job)}>Job</a>}
        </>
      }
    >
      <div class="pad">
        <dl class="pairs">
          <dt>message id</dt>
          <dd class="mono">
            {place.messageId} <CopyButton text={place.messageId} label="Copy the message id" />
          </dd>
          {place.archive && (
            <>
              <dt>document</dt>
              <dd class="mono">
                <Others text={place.archive} />
              </dd>
            </>
          )}
          <dt>so far</dt>
          <dd>
            {nounText(place.attemptsTotal, "attempt")}, {nounText(place.redrives, "redrive")}
          </dd>
        </dl>
      </div>
      {first && (
        <Timeline
          life={lifeOf(first, place.attempts ?? [], place.events ?? [], place.attemptsTotal).filter(
            (e) => e.kind !== "sent",
          )}
          origin={place.origin}
        />
      )}
    </Section>
  );
}

export function Lineage(): JSX.Element {
  const id = route.value.params.id ?? "";
  const read = useResource(`lineage ${id}`, (signal) => showLineage(id, signal), epoch.value);
  const places = read.value?.places ?? [];
  return (
    <div class="page">
      <PageHead
        crumbs={[{ text: "Queues", href: links.queues() }, { text: "Lineage" }]}
        title={
          <>
            <span class="mono">{read.value?.lineageId ?? id}</span>
            <CopyButton text={read.value?.lineageId ?? id} label="Copy the lineage id" />
          </>
        }
      >
        <p class="muted">The id of the first send; it stays the same through every redrive.</p>
      </PageHead>
      {read.error && <ErrorNote error={read.error} again={read.again} />}
      {read.loading && !read.value && <Skeleton />}
      {read.value && places.length === 0 && <EmptyState headline="This message is nowhere any more." />}
      <div class="column">
        {places.toReversed().map((place) => (
          <Place place={place} />
        ))}
        <CommandLine free command={`redrive dlq show ${id}`} />
      </div>
    </div>
  );
}
