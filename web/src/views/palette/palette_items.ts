// Everything that the palette can lead to. No request is made but for message ids.

import { consumerText, functionOfArn, shortId } from "../../model/format";
import { links } from "../../model/routes";
import { type Action, allActions } from "../../state/actions";
import { navigate } from "../../state/router";
import { alarms, groups, handlers, jobs, queues } from "../../state/store";

export interface PaletteItem {
  kind: string;
  name: string;
  note?: string;
  key?: string | undefined;
  run: () => void;
}

const kViews: readonly [string, string][] = [
  ["Dead letters", links.inbox()],
  ["Queues", links.queues()],
  ["Jobs", links.jobs()],
  ["Functions", links.functions()],
  ["Map", links.map()],
  ["Alarms", links.alarms()],
  ["Archive", links.archives()],
  ["Doctor", links.doctor()],
  ["Audit", links.audit()],
  ["Log", links.log()],
];

const goTo =
  (address: string): (() => void) =>
  () =>
    navigate(address);

const actionItem = (a: Action): PaletteItem => ({ kind: "action", name: a.label, key: a.key, run: a.run });

export function paletteItems(actionsOnly: boolean): PaletteItem[] {
  const seen = new Set<string>();
  const actions = allActions().filter((a) => !seen.has(a.id) && seen.add(a.id));
  if (actionsOnly) return actions.map(actionItem);
  const functions = new Set(handlers.value.map((h) => functionOfArn(consumerText(h.function ?? ""))));
  return [
    ...actions.filter((a) => !a.id.startsWith("go ")).map(actionItem),
    ...kViews.map(([name, address]) => ({ kind: "view", name, run: goTo(address) })),
    ...[...groups.value.values()].map((g) => ({
      kind: "group",
      name: g.title,
      note: g.queue,
      run: goTo(links.group(g.queue, g.id)),
    })),
    ...[...queues.value.keys()].map((name) => ({ kind: "queue", name, run: goTo(links.queue(name)) })),
    ...[...jobs.value.values()].map((j) => ({
      kind: "job",
      name: j.name || `${j.status} · ${j.queue} · ${shortId(j.id)}`,
      run: goTo(links.job(j.id)),
    })),
    ...[...functions].filter((n) => n).map((name) => ({ kind: "function", name, run: goTo(links.function(name)) })),
    ...[...alarms.value.keys()].map((name) => ({ kind: "alarm", name, run: goTo(links.alarm(name)) })),
  ];
}

// A MessageId, whole or its beginning.
export function lineageItem(text: string): PaletteItem | undefined {
  if (!/^[0-9a-f]{4,8}(?:-[0-9a-f-]*)?$/i.test(text) || !/\d/.test(text)) return undefined;
  return {
    kind: "message",
    name: text,
    note: "where it is, and what it has been through",
    run: goTo(links.lineage(text)),
  };
}

export function findItem(text: string): PaletteItem {
  return { kind: "search", name: text, note: "in all messages", run: goTo(links.find(text)) };
}
