// The server's log, following.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { readLog } from "../../api/manage";
import type { ReadLogAnswer } from "../../api/types.gen";
import { clockText } from "../../model/time";
import { timeStyle } from "../../state/prefs";
import { asApiError } from "../../state/resource";
import { livePaused } from "../../state/store";
import { EmptyState, ErrorNote, Others, PageHead, Skeleton } from "../../ui/parts";

type Line = ReadLogAnswer["lines"][number];
const kKept = 2000;
const kLevels = ["all", "warning", "error"] as const;

function isAtLeast(line: Line, level: (typeof kLevels)[number]): boolean {
  if (level === "all") return true;
  const serious = /^(error|critical)/.test(line.level);
  return serious || (level === "warning" && /^warn/.test(line.level));
}

export function Log(): JSX.Element {
  const [lines, setLines] = useState<Line[] | undefined>(undefined);
  const [error, setError] = useState<ReturnType<typeof asApiError> | undefined>(undefined);
  const [level, setLevel] = useState<(typeof kLevels)[number]>("all");
  const [text, setText] = useState("");
  const list = useRef<HTMLUListElement>(null);
  const following = useRef(true);
  useEffect(() => {
    let ended = false;
    let last: number | undefined;
    let timer: ReturnType<typeof setTimeout>;
    const read = async (): Promise<void> => {
      if (!document.hidden && !livePaused.value) {
        try {
          const answer = await readLog(last, 1000);
          if (ended) return;
          last = answer.lines.at(-1)?.number ?? last;
          setLines((before) => [...(before ?? []), ...answer.lines].slice(-kKept));
          setError(undefined);
        } catch (caught) {
          if (!ended) setError(asApiError(caught));
        }
      }
      if (!ended) timer = setTimeout(() => void read(), 2000);
    };
    void read();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, []);
  useEffect(() => {
    const element = list.current;
    if (element && following.current) element.scrollTop = element.scrollHeight;
  }, [lines, level, text]);
  const shown = (lines ?? []).filter((l) => isAtLeast(l, level) && l.text.toLowerCase().includes(text.toLowerCase()));
  return (
    <div class="page">
      <PageHead title="Log">
        <div class="bar">
          <input
            type="search"
            placeholder="Text"
            aria-label="Text"
            value={text}
            onInput={(e) => setText(e.currentTarget.value)}
          />
          <div class="segmented" role="group" aria-label="Level">
            {kLevels.map((l) => (
              <button type="button" aria-pressed={l === level} onClick={() => setLevel(l)}>
                {l}
              </button>
            ))}
          </div>
        </div>
      </PageHead>
      <section class="section" aria-label="Log">
        {error && <ErrorNote error={error} />}
        {!lines && !error && <Skeleton rows={10} />}
        {lines && shown.length === 0 && <EmptyState headline="No lines." />}
        {shown.length > 0 && (
          <ul
            class="log-lines"
            tabIndex={0}
            aria-label="Lines of the log"
            ref={list}
            onScroll={(e) => {
              const { scrollTop, scrollHeight, clientHeight } = e.currentTarget;
              following.current = scrollHeight - scrollTop - clientHeight < 40;
            }}
          >
            {shown.map((l) => (
              <li key={l.number}>
                <time dateTime={l.at} title={l.at}>
                  {clockText(Date.parse(l.at), timeStyle.value === "utc")}
                </time>
                <span class={l.level}>{l.level}</span>
                <span>
                  <Others text={l.text} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </section>
    </div>
  );
}
