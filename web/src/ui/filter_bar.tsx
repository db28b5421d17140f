// One input for the filter language: coloured, completed, with the same text in pieces below.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { completions, type FieldInfo } from "../model/filter_completion";
import { filterClauses, filterTokens, problemRange, removeClause } from "../model/filter_text";
import { Icon, Others } from "./parts";

export interface FilterBarProps {
  value: string; // The filter in force.
  change: (filter: string) => void;
  fields: readonly FieldInfo[];
  loadFields: () => void;
  problem?: { message: string; position?: number | undefined } | undefined;
  label?: string;
}

function Colours({ text, wrong }: { text: string; wrong: { start: number; end: number } | undefined }): JSX.Element {
  const pieces: (JSX.Element | string)[] = [];
  let from = 0;
  const isWrong = (start: number, end: number): boolean => !!wrong && start < wrong.end && end > wrong.start;
  for (const token of filterTokens(text)) {
    if (token.start > from) pieces.push(text.slice(from, token.start));
    const names = `f-${token.kind}${isWrong(token.start, token.end) ? " wrong" : ""}`;
    pieces.push(<span class={names}>{text.slice(token.start, token.end)}</span>);
    from = token.end;
  }
  pieces.push(text.slice(from));
  return <>{pieces}</>;
}

export function FilterBar(props: FilterBarProps): JSX.Element {
  const [text, setText] = useState(props.value);
  const [caret, setCaret] = useState(0);
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const colours = useRef<HTMLDivElement>(null);
  useEffect(() => setText(props.value), [props.value]);

  const list = completions(text, caret, props.fields);
  const wrong =
    props.problem && text === props.value
      ? problemRange(text, props.problem.message, props.problem.position)
      : undefined;
  const read = (): void => setCaret(input.current?.selectionStart ?? 0);
  const apply = (value: string): void => {
    setOpen(false);
    setChosen(-1);
    props.change(value.trim());
  };
  const take = (index: number): void => {
    const item = list.items[index];
    if (!item) return;
    const next = text.slice(0, list.from) + item.text + text.slice(list.to).trimStart();
    const at = list.from + item.text.length;
    setText(next);
    setChosen(-1);
    setCaret(at);
    requestAnimationFrame(() => input.current?.setSelectionRange(at, at));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (event.key === " " && (event.ctrlKey || event.metaKey)) setOpen(true);
    else if (open && step !== undefined && list.items.length > 0) {
      setChosen((c) => (c + step + list.items.length) % list.items.length);
    } else if (event.key === "Tab" && open && chosen >= 0) take(chosen);
    else if (event.key === "Enter") {
      if (open && chosen >= 0) take(chosen);
      else apply(text);
    } else if (event.key === "Escape" && open) setOpen(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const clauses = filterClauses(props.value);
  const shown = open && list.items.length > 0;
  return (
    <div class="filter-bar">
      <div class="filter-input">
        <div class="colours" aria-hidden="true" ref={colours}>
          <Colours text={text} wrong={wrong} />
        </div>
        <input
          ref={input}
          type="text"
          role="combobox"
          aria-label={props.label ?? "Filter"}
          aria-expanded={shown}
          aria-controls="filter-completions"
          aria-activedescendant={shown && chosen >= 0 ? `filter-completion-${chosen}` : undefined}
          aria-invalid={props.problem !== undefined}
          placeholder='Filter: $.total > 100 and attribute.region == "eu"'
          autocomplete="off"
          spellcheck={false}
          value={text}
          onFocus={() => {
            props.loadFields();
          }}
          onInput={(e) => {
            setText(e.currentTarget.value);
            setOpen(true);
            setChosen(-1);
            read();
          }}
          onScroll={(e) => {
            if (colours.current) colours.current.scrollLeft = e.currentTarget.scrollLeft;
          }}
          onKeyDown={onKeyDown}
          onKeyUp={read}
          onClick={() => {
            read();
            setOpen(true);
          }}
          onBlur={() => setTimeout(() => setOpen(false), 150)}
        />
        {text !== "" && (
          <button type="button" class="icon clear" aria-label="Clear the filter" onClick={() => apply("")}>
            <Icon name="x" />
          </button>
        )}
        {shown && (
          <ul class="completions" id="filter-completions" role="listbox" aria-label="Completions">
            {list.items.map((item, i) => (
              <li
                id={`filter-completion-${i}`}
                role="option"
                aria-selected={i === chosen}
                onPointerDown={(e) => {
                  e.preventDefault();
                  take(i);
                }}
              >
                <Others text={item.label} />
                <span>{item.note}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
      {props.problem && (
        <p class="filter-problem" role="alert">
          {props.problem.message}
        </p>
      )}
      {clauses.length > 1 && (
        <div class="chips">
          {clauses.map((clause, i) => (
            <span class="chip code">
              <Others text={clause} />
              <button
                type="button"
                class="icon"
                aria-label={`Remove ${clause}`}
                onClick={() => apply(removeClause(props.value, i))}
              >
                <Icon name="x" />
              </button>
            </span>
          ))}
        </div>
      )}
    </div>
  );
}
