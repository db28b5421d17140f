// The messages of a group by the values of one field.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { peekMessages } from "../../api/manage";
import { fieldsOf } from "../../model/fields";
import { quoteText } from "../../model/filter_text";
import { countText } from "../../model/format";
import { useResource } from "../../state/resource";
import { ErrorNote, Others, Section } from "../../ui/parts";

export function Breakdown({
  queue,
  group,
  filter,
  narrow,
}: {
  queue: string;
  group: string;
  filter: string;
  narrow: (clause: string, negated: boolean) => void;
}): JSX.Element | null {
  const clauses = [`group == ${quoteText(group)}`, ...(filter ? [`(${filter})`] : [])].join(" and ");
  const [open, setOpen] = useState(false);
  const read = useResource(open ? `breakdown ${queue} ${clauses}` : undefined, (signal) =>
    peekMessages(queue, { limit: 200, filter: clauses }, signal),
  );
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const messages = read.value?.messages ?? [];
  const fields = fieldsOf(messages).filter((f) => f.values.length > 0);
  const useful = fields.filter((f) => f.values.length > 1 && f.values.length < messages.length);
  const field = fields.find((f) => f.path === chosen) ?? useful[0] ?? fields[0];
  return (
    <Section
      title="By field"
      aside={
        open ? (
          <select aria-label="Field" value={field?.path} onChange={(e) => setChosen(e.currentTarget.value)}>
            {fields.map((f) => (
              <option value={f.path}>{f.path}</option>
            ))}
          </select>
        ) : (
          <button type="button" class="small plain" onClick={() => setOpen(true)}>
            Break down
          </button>
        )
      }
    >
      {read.error && <ErrorNote error={read.error} again={read.again} />}
      {open && field && (
        <ul class="breakdown">
          {field.values.slice(0, 10).map((v) => (
            <li>
              <button
                type="button"
                class="json-value mono"
                onClick={(e) =>
                  narrow(`${field.path} == ${field.path.startsWith("$") ? v.value : quoteText(v.value)}`, e.altKey)
                }
              >
                <Others text={v.value} />
              </button>
              <div class="track">
                <i class="busy" style={{ width: `${(100 * v.count) / Math.max(messages.length, 1)}%` }} />
              </div>
              <b>{countText(v.count)}</b>
            </li>
          ))}
          <li class="faint">of {countText(messages.length)} looked at</li>
        </ul>
      )}
      {!open && <p class="pad muted">How the messages divide by a field of their bodies or an attribute.</p>}
    </Section>
  );
}
