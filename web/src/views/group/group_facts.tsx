// Counts and times of a group; each count leads to what it counts.

import type { JSX } from "preact";
import type { GroupRow } from "../../api/additions";
import type { FailureGroup } from "../../api/types.gen";
import { consumerText, countText, listText } from "../../model/format";
import { links } from "../../model/routes";
import { jobs } from "../../state/store";
import { Others, TimeText } from "../../ui/parts";
import { TrendBars } from "../../ui/small_charts";

export function GroupFacts({ group, queue }: { group: FailureGroup; queue: string }): JSX.Element {
  const onTheWay = [...jobs.value.values()]
    .filter((j) => j.queue === queue && j.group?.includes(group.id))
    .reduce((n, j) => n + j.open, 0);
  const expires = (group as GroupRow).oldestExpiresAt;
  return (
    <div class="facts">
      <span class={group.count > 0 ? "dead" : ""}>
        <b>{countText(group.count)}</b> waiting
      </span>
      <span>
        <a href={links.jobs({ queue })}>{countText(onTheWay)}</a> on their way
      </span>
      <span class={group.failedAgain > 0 ? "dead" : ""}>
        <a href={links.group(queue, group.id, { filter: "redriven > 0" })}>{countText(group.failedAgain)}</a> failed
        again
      </span>
      <span>
        first{" "}
        <b>
          <TimeText at={group.firstSeen} />
        </b>
      </span>
      <span>
        last{" "}
        <b>
          <TimeText at={group.lastSeen} />
        </b>
      </span>
      {(group.sources ?? []).length > 0 && (
        <span>
          from{" "}
          {(group.sources ?? []).slice(0, 3).map((s, i) => (
            <>
              {i > 0 && ", "}
              <a href={links.queue(s)}>
                <Others text={s} />
              </a>
            </>
          ))}
        </span>
      )}
      {(group.consumers ?? []).length > 0 && (
        <span>
          by <b>{<Others text={listText((group.consumers ?? []).map(consumerText), 2)} />}</b>
        </span>
      )}
      {expires && (
        <span>
          oldest expires{" "}
          <b>
            <TimeText at={expires} />
          </b>
        </span>
      )}
      {group.owner && (
        <span>
          owner <b>{<Others text={group.owner} />}</b>
        </span>
      )}
      <TrendBars values={group.hourly ?? []} />
      {group.note && (
        <span class="group-note">
          <Others text={`“${group.note}”`} />
        </span>
      )}
    </div>
  );
}
