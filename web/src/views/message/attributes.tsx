// Message attributes with their types, and the fields that SQS keeps beside them.

import type { JSX } from "preact";
import type { MessageAttribute } from "../../api/aws";
import type { Message } from "../../api/types.gen";
import { attributeClause } from "../../model/filter_text";
import { Others, Section } from "../../ui/parts";
import type { Clause } from "./contents";

export function attributesOf(message: { attributes?: Record<string, unknown> }): [string, MessageAttribute][] {
  return Object.entries((message.attributes ?? {}) as Record<string, MessageAttribute>);
}

export function Attributes({
  message,
  onClause,
}: {
  message: Message;
  onClause?: Clause | undefined;
}): JSX.Element | null {
  const rows = attributesOf(message);
  const system: [string, string][] = [];
  if (message.groupId) system.push(["MessageGroupId", message.groupId]);
  if (message.deduplicationId) system.push(["MessageDeduplicationId", message.deduplicationId]);
  if (message.traceHeader) system.push(["AWSTraceHeader", message.traceHeader]);
  if (rows.length + system.length === 0) return null;
  return (
    <Section title="Attributes" aside={String(rows.length)}>
      <table class="attributes">
        <tbody>
          {rows.map(([name, a]) => (
            <tr>
              <th scope="row">
                <Others text={name} />
              </th>
              <td>
                {onClause && a.StringValue !== undefined ? (
                  <button
                    type="button"
                    class="json-value mono"
                    title="Click to narrow by this value, Alt-click to leave it out"
                    onClick={(e) => onClause(attributeClause(name, a.StringValue), e.altKey)}
                  >
                    <Others text={a.StringValue} />
                  </button>
                ) : (
                  <span class="mono">
                    <Others text={a.StringValue ?? a.BinaryValue ?? ""} />
                  </span>
                )}
              </td>
              <td class="type">{a.DataType}</td>
            </tr>
          ))}
          {system.map(([name, value]) => (
            <tr>
              <th scope="row">{name}</th>
              <td class="mono">
                <Others text={value} />
              </td>
              <td class="type">system</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}
