// What lies over the page: drawers, dialogs, menus.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon, Others } from "./parts";

// Gives the focus back to where it was when `open` began.
function useFocusReturn(): void {
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    return () => {
      if (before?.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
}

export function Drawer(props: {
  title: ComponentChildren;
  label: string;
  close: () => void;
  footer?: ComponentChildren;
  wide?: boolean;
  children: ComponentChildren;
}): JSX.Element {
  useFocusReturn();
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    const first = element.current?.querySelector<HTMLElement>("[data-autofocus]") ?? element.current;
    first?.focus({ preventScroll: true });
  }, []);
  return (
    <aside
      class={props.wide ? "drawer wide" : "drawer"}
      aria-label={props.label}
      ref={element}
      tabIndex={-1}
      onKeyDown={(e) => {
        if (e.key !== "Escape" || e.defaultPrevented) return;
        e.stopPropagation();
        props.close();
      }}
    >
      <header>
        <h2>{props.title}</h2>
        <button type="button" class="icon" aria-label="Close" title="Close (Esc)" onClick={props.close}>
          <Icon name="x" />
        </button>
      </header>
      <div class="body">{props.children}</div>
      {props.footer !== undefined && <footer>{props.footer}</footer>}
    </aside>
  );
}

export function Dialog(props: {
  title: string;
  close: () => void;
  children: ComponentChildren;
  class?: string;
}): JSX.Element {
  useFocusReturn();
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    <dialog
      ref={element}
      class={props.class}
      aria-label={props.title}
      onCancel={(e) => {
        e.preventDefault();
        props.close();
      }}
      onKeyDown={(e) => e.stopPropagation()}
    >
      <div class="content">
        <h2>{props.title}</h2>
        {props.children}
      </div>
    </dialog>
  );
}

// A dialog whose button works once the reader has typed what it is about.
export function TypedConfirm(props: {
  title: string;
  word: string; // What has to be typed.
  button: string;
  running: boolean;
  close: () => void;
  confirm: () => void;
  children: ComponentChildren;
}): JSX.Element {
  const [typed, setTyped] = useState("");
  return (
    <Dialog title={props.title} close={props.close}>
      {props.children}
      <label class="field">
        <span class="label">
          Type <Others text={props.word} /> to confirm
        </span>
        <input value={typed} autocomplete="off" spellcheck={false} onInput={(e) => setTyped(e.currentTarget.value)} />
      </label>
      <div class="bar">
        <button type="button" onClick={props.close}>
          Keep
        </button>
        <button
          type="button"
          class="danger-solid"
          disabled={typed !== props.word || props.running}
          onClick={props.confirm}
        >
          {props.button}
        </button>
      </div>
    </Dialog>
  );
}

export function Menu(props: {
  button: ComponentChildren;
  label: string;
  class?: string;
  children: ComponentChildren;
}): JSX.Element {
  const [open, setOpen] = useState(false);
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return undefined;
    const close = (event: Event): void => {
      if (!element.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", close);
    return () => document.removeEventListener("pointerdown", close);
  }, [open]);
  return (
    <div
      class="menu"
      ref={element}
      onKeyDown={(e) => {
        if (e.key !== "Escape" || !open) return;
        e.stopPropagation();
        setOpen(false);
        element.current?.querySelector("button")?.focus();
      }}
    >
      <button
        type="button"
        class={props.class}
        aria-haspopup="true"
        aria-expanded={open}
        title={props.label}
        onClick={() => setOpen((o) => !o)}
      >
        {props.button}
      </button>
      {open && (
        <div
          class="items"
          role="group"
          aria-label={props.label}
          onClick={(e) => {
            if ((e.target as HTMLElement).closest("button[data-closes]")) setOpen(false);
          }}
        >
          {props.children}
        </div>
      )}
    </div>
  );
}
