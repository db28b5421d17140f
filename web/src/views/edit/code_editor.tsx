// CodeMirror in a shadow root: there its styles are adopted sheets, which the content security policy allows.
// Colours, the difference to the original and the check of JSON are ours: its packages for them are as large as the
// rest of the console's views.

import { history, historyKeymap, standardKeymap } from "@codemirror/commands";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { jsonColours } from "./json_colours";
import { unifiedDiff } from "./unified_diff";

const kLook = EditorView.theme({
  "&": {
    fontSize: "12.5px",
    backgroundColor: "var(--bg)",
    color: "var(--text)",
    minHeight: "160px",
    maxHeight: "480px",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--bg)", color: "var(--faint)", border: "0" },
  ".removed-line": { backgroundColor: "var(--dead-bg)", padding: "0 2px 0 6px", whiteSpace: "pre-wrap" },
  ".removed-line::before": { content: '"− "', color: "var(--dead)" },
  ".added-line": { backgroundColor: "var(--ok-bg)" },
  ".changed-text": { borderBottom: "2px solid var(--ok)" },
  ".t-key": { color: "var(--accent)" },
  ".t-string": { color: "var(--ok)" },
  ".t-number": { color: "var(--wait)" },
});

export interface CodeEditorProps {
  original: string;
  value: string; // At the start.
  change: (text: string) => void;
  label: string;
  isJson: boolean;
  onSave?: () => void;
}

function extensions(props: CodeEditorProps, latest: { current: CodeEditorProps }): Extension[] {
  const save = (): boolean => {
    latest.current.onSave?.();
    return true;
  };
  return [
    lineNumbers(),
    history(),
    EditorView.lineWrapping,
    ...(props.isJson ? [jsonColours] : []),
    unifiedDiff(props.original),
    kLook,
    EditorView.contentAttributes.of({ "aria-label": props.label }),
    keymap.of([{ key: "Mod-Enter", run: save }, ...historyKeymap, ...standardKeymap]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) latest.current.change(update.state.doc.toString());
    }),
  ];
}

export function CodeEditor(props: CodeEditorProps): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({ doc: props.value, extensions: extensions(props, latest) }),
    });
    view.focus();
    return () => view.destroy();
  }, [props.original]);
  return <div class="editor-host" ref={host} />;
}
