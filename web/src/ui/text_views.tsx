// Contents of messages: as a tree, as text, as bytes. Everything ends as text nodes.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { bodyClause } from "../model/filter_text";
import { sizeText } from "../model/format";
import { type JsonRow, jsonRows, openAtFirst } from "../model/json_rows";
import { isContainer, type JsonNode, pathText } from "../model/json_tokens";
import { type DiffLine, lineDiff } from "../model/line_diff";
import { frameCount, type StackLine, stackBlocks } from "../model/stack";
import { cutLines, hexLines } from "../model/visible_text";
import { environment } from "./environment";
import { Others } from "./parts";

const kShownAtFirst = 64 * 1024;
const kLinesAtOnce = 500;

export function TextView({ text, label }: { text: string; label: string }): JSX.Element {
  const [limit, setLimit] = useState(kShownAtFirst);
  const [count, setCount] = useState(kLinesAtOnce);
  const lines = useMemo(() => cutLines(text.slice(0, limit)), [text, limit]);
  const more = text.length > limit || lines.length > count;
  const showMore = (): void => {
    setCount((c) => c + kLinesAtOnce);
    if (lines.length <= count + kLinesAtOnce) setLimit((l) => l * 4);
  };
  return (
    <div class="code-view" tabIndex={0} role="region" aria-label={label}>
      {lines.slice(0, count).map((line) => (
        <div class={line.continued ? "line continued" : "line"}>
          <Others text={line.text} multiline />
        </div>
      ))}
      {more && (
        <button type="button" class="small" onClick={showMore}>
          Show more of {sizeText(text.length)}
        </button>
      )}
    </div>
  );
}

export function HexView({ bytes, label }: { bytes: Uint8Array; label: string }): JSX.Element {
  const [count, setCount] = useState(256);
  const lines = useMemo(() => hexLines(bytes, 0, count), [bytes, count]);
  return (
    <div class="code-view hex" tabIndex={0} role="region" aria-label={label}>
      {lines.map((line) => (
        <div class="line">{line}</div>
      ))}
      {bytes.length > count * 16 && (
        <button type="button" class="small" onClick={() => setCount((c) => c * 4)}>
          Show more of {sizeText(bytes.length)}
        </button>
      )}
    </div>
  );
}

export interface JsonTreeProps {
  text: string;
  root: JsonNode;
  label: string;
  // A value was clicked: narrow by it. `negated` with the Alt key.
  onClause?: ((clause: string, negated: boolean) => void) | undefined;
  onLens?: ((literal: string, steps: readonly (string | number)[]) => void) | undefined;
  hasLens?: (literal: string) => boolean;
}

const kScalarMax = 2000;

function scalarClass(kind: string): string {
  return kind === "string" ? "t-string" : "t-number";
}

function JsonLine({ row, tree }: { row: JsonRow; tree: JsonTreeProps }): JSX.Element {
  const { node } = row;
  const brackets = node.kind === "object" ? ["{", "}"] : ["[", "]"];
  if (row.closing) return <span class="t-faint">{brackets[1]}</span>;
  const name =
    row.label !== undefined ? <span class="t-key">{<Others text={JSON.stringify(row.label)} />}</span> : null;
  const colon = name ? <span class="t-faint">: </span> : null;
  if (isContainer(node)) {
    const many = node.children.length;
    const noun = node.kind === "object" ? "key" : "element";
    const folded = row.folded
      ? ` ${many} ${noun}${many === 1 ? "" : "s"} ${brackets[1]}`
      : many === 0
        ? brackets[1]
        : "";
    return (
      <>
        {name}
        {colon}
        <span class="t-faint">
          {brackets[0]}
          {folded}
        </span>
      </>
    );
  }
  const literal = tree.text.slice(node.start, node.end);
  const shown = literal.length > kScalarMax ? `${literal.slice(0, kScalarMax)}…` : literal;
  const value = (
    <span class={scalarClass(node.kind)}>
      <Others text={shown} />
    </span>
  );
  const { onClause } = tree;
  return (
    <>
      {name}
      {colon}
      {onClause && row.steps.length > 0 && literal.length < 500 ? (
        <button
          type="button"
          class="json-value"
          title={`${pathText(row.steps)} — click to narrow by this value, Alt-click to leave it out`}
          onClick={(e) => onClause(bodyClause(row.steps, node.kind, literal), e.altKey)}
        >
          {value}
        </button>
      ) : (
        value
      )}
    </>
  );
}

export function JsonTree(props: JsonTreeProps): JSX.Element {
  const { text, root } = props;
  const [open, setOpen] = useState<{ of: JsonNode; nodes: Set<JsonNode> }>(() => ({
    of: root,
    nodes: openAtFirst(root),
  }));
  const [count, setCount] = useState(kLinesAtOnce);
  const nodes = open.of === root ? open.nodes : openAtFirst(root);
  const rows = useMemo(() => jsonRows(text, root, nodes), [text, root, nodes]);
  const toggle = (node: JsonNode): void => {
    const next = new Set(nodes);
    if (!next.delete(node)) next.add(node);
    setOpen({ of: root, nodes: next });
  };
  return (
    <div class="code-view" tabIndex={0} role="region" aria-label={props.label}>
      {rows.slice(0, count).map((row) => (
        <div class="json-row" style={{ paddingLeft: `${Math.min(row.depth, 40) * 14}px` }}>
          {isContainer(row.node) && row.node.children.length > 0 && !row.closing ? (
            <button
              type="button"
              class="fold"
              aria-expanded={!row.folded}
              aria-label={row.folded ? `Open ${pathText(row.steps)}` : `Fold ${pathText(row.steps)}`}
              onClick={() => toggle(row.node)}
            >
              {row.folded ? "▸" : "▾"}
            </button>
          ) : (
            <span class="fold" aria-hidden="true" />
          )}
          <span class="line">
            <JsonLine row={row} tree={props} />
          </span>
          {!row.closing && (
            <span class="tools">
              {props.hasLens?.(text.slice(row.node.start, row.node.end)) && (
                <button
                  type="button"
                  onClick={() => props.onLens?.(text.slice(row.node.start, row.node.end), row.steps)}
                >
                  open as…
                </button>
              )}
              <button type="button" tabIndex={-1} onClick={() => environment.copy(pathText(row.steps))}>
                path
              </button>
              <button
                type="button"
                tabIndex={-1}
                onClick={() => environment.copy(text.slice(row.node.start, row.node.end))}
              >
                value
              </button>
            </span>
          )}
        </div>
      ))}
      {rows.length > count && (
        <button type="button" class="small" onClick={() => setCount((c) => c * 2)}>
          Show more
        </button>
      )}
    </div>
  );
}

function FrameLine({ line }: { line: StackLine }): JSX.Element {
  return (
    <div class={`line ${line.kind}`}>
      {line.place ? (
        <>
          {"  "}
          <Others text={line.function || "(anonymous)"} />
          <span class="place">
            {"  "}
            <Others text={line.place} />
          </span>
        </>
      ) : (
        <Others text={line.text} multiline />
      )}
    </div>
  );
}

export function StackTrace({ trace, label = "Stack trace" }: { trace: string; label?: string }): JSX.Element {
  const blocks = useMemo(() => stackBlocks(trace), [trace]);
  return (
    <div class="stack-trace" tabIndex={0} role="region" aria-label={label}>
      {blocks.map((block) =>
        block.runtime ? (
          <details>
            <summary>
              {"  "}
              {frameCount(block)} {frameCount(block) === 1 ? "frame" : "frames"} of the runtime or of packages
            </summary>
            {block.lines.map((line) => (
              <FrameLine line={line} />
            ))}
          </details>
        ) : (
          block.lines.map((line) => <FrameLine line={line} />)
        ),
      )}
    </div>
  );
}

export function Diff({ before, after, label }: { before: string; after: string; label: string }): JSX.Element {
  const lines: DiffLine[] = useMemo(() => lineDiff(before, after), [before, after]);
  return (
    <div class="diff" tabIndex={0} role="region" aria-label={label}>
      {lines.map((line) => (
        <div class={`line ${line.kind}`}>
          <Others text={line.text} multiline />
        </div>
      ))}
    </div>
  );
}
