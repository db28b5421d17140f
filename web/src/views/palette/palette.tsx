// Find or do anything: one field for names, ids and actions.

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type FuzzyHit, fuzzyFind } from "../../model/fuzzy";
import { Others } from "../../ui/parts";
import { findItem, lineageItem, type PaletteItem, paletteItems } from "./palette_items";
import { closePalette } from "./palette_state";

function hitsFor(text: string): FuzzyHit<PaletteItem>[] {
  const only = text.startsWith(">");
  const needle = (only ? text.slice(1) : text).trim();
  const hits = fuzzyFind(needle, paletteItems(only), (i) => i.name, 40);
  const extra: PaletteItem[] = [];
  const lineage = lineageItem(needle);
  if (lineage) extra.push(lineage);
  const front = extra.map((item) => ({ item, score: 1e9, positions: [] }));
  const back = needle.length > 2 && !only ? [{ item: findItem(needle), score: 0, positions: [] }] : [];
  return [...front, ...hits, ...back];
}

function Marked({ text, positions }: { text: string; positions: readonly number[] }): JSX.Element {
  if (positions.length === 0) return <Others text={text} />;
  const marked = new Set(positions);
  return <span class="others">{Array.from(text, (c, i) => (marked.has(i) ? <mark>{c}</mark> : c))}</span>;
}

export function OpenPalette({ start }: { start: string }): JSX.Element {
  const [text, setText] = useState(start);
  const [at, setAt] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const hits = useMemo(() => hitsFor(text), [text]);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    dialog.current?.showModal();
    return () => before?.focus?.({ preventScroll: true });
  }, []);
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const choose = (hit: FuzzyHit<PaletteItem> | undefined): void => {
    if (!hit) return;
    closePalette();
    queueMicrotask(hit.item.run);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    event.stopPropagation();
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined && hits.length > 0) setAt((a) => (a + step + hits.length) % hits.length);
    else if (event.key === "Enter") choose(hits[at]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      class="palette"
      ref={dialog}
      aria-label="Find or do anything"
      onCancel={(e) => {
        e.preventDefault();
        closePalette();
      }}
      onClick={(e) => e.target === e.currentTarget && closePalette()}
      onKeyDown={onKeyDown}
    >
      <div class="frame">
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={`palette-${at}`}
          aria-label="Find or do anything"
          placeholder="A queue, a group, a job, a message id; > for actions"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(e) => {
            setText(e.currentTarget.value);
            setAt(0);
          }}
        />
        <ul id="palette-list" role="listbox" aria-label="Results" ref={list}>
          {hits.map((hit, i) => (
            <li
              id={`palette-${i}`}
              role="option"
              aria-selected={i === at}
              onPointerMove={() => setAt(i)}
              onClick={() => choose(hit)}
            >
              <span class="kind">{hit.item.kind}</span>
              <span class="name">
                <Marked text={hit.item.name} positions={hit.positions} />
                {hit.item.note && <span class="faint"> {<Others text={hit.item.note} />}</span>}
              </span>
              {hit.item.key ? <kbd>{hit.item.key}</kbd> : <span />}
            </li>
          ))}
          {hits.length === 0 && (
            <li role="option" aria-selected="false">
              <span />
              <span class="faint">Nothing of that name.</span>
              <span />
            </li>
          )}
        </ul>
      </div>
    </dialog>
  );
}
