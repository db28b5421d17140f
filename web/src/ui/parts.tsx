// The smallest parts of a page.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { countText } from "../model/format";
import { exactText, parseTime, timeText } from "../model/time";
import { visiblePieces } from "../model/visible_text";
import { environment } from "./environment";
import { type IconName, kIcons } from "./icons";

export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg class="glyph" viewBox="0 0 24 24" aria-hidden="true">
      <path d={kIcons[name]} />
    </svg>
  );
}

// Text that others wrote: hidden characters are made visible, and its direction stays inside.
export function Others({ text, multiline = false }: { text: string; multiline?: boolean }): JSX.Element {
  const pieces = visiblePieces(text, multiline);
  return (
    <span class="others">{pieces.map((p) => (p.mark ? <span class="hidden-character">{p.text}</span> : p.text))}</span>
  );
}

export function TimeText({ at, style }: { at: string | number | undefined; style?: "clock" }): JSX.Element | null {
  const ms = typeof at === "number" ? at : parseTime(at);
  if (ms === undefined) return null;
  const chosen = environment.timeStyle.value;
  const shown = style === "clock" && chosen === "relative" ? "local" : chosen;
  return (
    <time dateTime={new Date(ms).toISOString()} title={exactText(ms)}>
      {timeText(ms, environment.now.value, shown)}
    </time>
  );
}

export function Count({ n, href, of }: { n: number; href?: string; of?: string }): JSX.Element {
  const text = of ? `${countText(n)} ${of}` : countText(n);
  return href ? <a href={href}>{text}</a> : <b>{text}</b>;
}

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }): JSX.Element {
  return (
    <button type="button" class="icon" title={label} aria-label={label} onClick={() => environment.copy(text)}>
      <Icon name="copy" />
    </button>
  );
}

export function Section(props: {
  title: ComponentChildren;
  aside?: ComponentChildren;
  children: ComponentChildren;
  label?: string;
  class?: string;
}): JSX.Element {
  return (
    <section class={`section ${props.class ?? ""}`} aria-label={props.label}>
      <header>
        <h2>{props.title}</h2>
        {props.aside !== undefined && <div class="aside">{props.aside}</div>}
      </header>
      {props.children}
    </section>
  );
}

export interface Crumb {
  text: string;
  href?: string;
}

export function PageHead(props: {
  crumbs?: readonly Crumb[];
  title: ComponentChildren;
  children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="page-head">
      {props.crumbs && (
        <nav class="crumbs" aria-label="Path">
          {props.crumbs.map((c, i) => (
            <>
              {i > 0 && " / "}
              {c.href ? (
                <a href={c.href}>
                  <Others text={c.text} />
                </a>
              ) : (
                <Others text={c.text} />
              )}
            </>
          ))}
        </nav>
      )}
      <h1>{props.title}</h1>
      {props.children}
    </div>
  );
}

export function Tabs({
  items,
  label,
}: {
  items: { text: string; href: string; current: boolean }[];
  label: string;
}): JSX.Element {
  return (
    <nav class="tabs" aria-label={label}>
      {items.map((i) => (
        <a href={i.href} aria-current={i.current ? "page" : undefined}>
          {i.text}
        </a>
      ))}
    </nav>
  );
}

export function EmptyState(props: { headline: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <p class="headline">{props.headline}</p>
      {props.children}
    </div>
  );
}

// An error of one part, in its place. `error` is anything with a code, a sentence and a request id.
export function ErrorNote(props: {
  error: { code: string; message: string; requestId?: string | undefined };
  again?: (() => void) | undefined;
  children?: ComponentChildren;
}): JSX.Element {
  const { error } = props;
  return (
    <div class="error-note" role="alert">
      <span class="sentence">
        <Others text={error.message} /> {props.children}
      </span>
      <span class="code">
        {error.code}
        {error.requestId && (
          <>
            {" "}
            · request{" "}
            <button
              type="button"
              class="link"
              title="Copy the request id"
              onClick={() => environment.copy(error.requestId ?? "")}
            >
              {error.requestId.slice(0, 8)}
            </button>
          </>
        )}
      </span>
      {props.again && (
        <button type="button" class="small" onClick={props.again}>
          Again
        </button>
      )}
    </div>
  );
}

// Shown only when loading takes longer than 150 ms.
export function Skeleton({ rows = 5 }: { rows?: number }): JSX.Element | null {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  if (!late) return <div class="skeleton" aria-hidden="true" />;
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: rows }, () => (
        <i />
      ))}
    </div>
  );
}

export function CommandLine({
  command,
  free = false,
}: {
  command: string | undefined;
  free?: boolean;
}): JSX.Element | null {
  if (command === undefined) return null;
  return (
    <div class={free ? "command free" : "command"}>
      <code>
        <Others text={command} />
      </code>
      <CopyButton text={command} label="Copy the command" />
    </div>
  );
}

export function Field(props: { label: string; note?: ComponentChildren; children: ComponentChildren }): JSX.Element {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among the children
    <label class="field">
      <span class="label">{props.label}</span>
      {props.children}
      {props.note !== undefined && <span class="note">{props.note}</span>}
    </label>
  );
}

export function Switch(props: {
  label: string;
  on: boolean;
  change: (on: boolean) => void;
  disabled?: boolean;
}): JSX.Element {
  return (
    <label class="choice">
      <input
        type="checkbox"
        role="switch"
        aria-checked={props.on}
        checked={props.on}
        disabled={props.disabled}
        onChange={(e) => props.change(e.currentTarget.checked)}
      />
      {props.label}
    </label>
  );
}
