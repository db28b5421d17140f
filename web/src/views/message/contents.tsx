// The body of a message: as a tree where it is JSON, as text, as bytes; with lenses for what is inside texts.

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { sizeText } from "../../model/format";
import { decodeString, parseJson } from "../../model/json_tokens";
import { fromBase64, isGzip, lensOf, utf8Text } from "../../model/lens";
import { CopyButton } from "../../ui/parts";
import { HexView, JsonTree, TextView } from "../../ui/text_views";

type Mode = "tree" | "text" | "hex";

export type Clause = (clause: string, negated: boolean) => void;

async function gunzip(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// What a lens shows of a text: the JSON or bytes inside.
async function openLens(text: string): Promise<{ title: string; text: string | undefined; bytes: Uint8Array }> {
  const encode = (t: string): Uint8Array => new TextEncoder().encode(t);
  if (lensOf(text) === "json") return { title: "JSON inside the text", text, bytes: encode(text) };
  let bytes = fromBase64(text);
  let title = "base64, decoded";
  if (isGzip(bytes)) {
    bytes = await gunzip(bytes);
    title = "base64 and gzip, decoded";
  }
  return { title, text: utf8Text(bytes), bytes };
}

function Modes({ modes, mode, set }: { modes: readonly Mode[]; mode: Mode; set: (m: Mode) => void }): JSX.Element {
  const words: Record<Mode, string> = { tree: "Tree", text: "Text", hex: "Hex" };
  return (
    <div class="segmented" role="group" aria-label="Show as">
      {modes.map((m) => (
        <button type="button" aria-pressed={m === mode} onClick={() => set(m)}>
          {words[m]}
        </button>
      ))}
    </div>
  );
}

export function Contents({
  body,
  title,
  onClause,
}: {
  body: string;
  title: string;
  onClause?: Clause | undefined;
}): JSX.Element {
  const parsed = useMemo(() => parseJson(body), [body]);
  const bytes = useMemo(() => new TextEncoder().encode(body), [body]);
  const [chosen, setMode] = useState<Mode | undefined>(undefined);
  const [lens, setLens] = useState<Awaited<ReturnType<typeof openLens>> | undefined>(undefined);
  useEffect(() => setLens(undefined), [body]);
  const isTree = parsed.root !== undefined && (parsed.root.kind === "object" || parsed.root.kind === "array");
  const mode = chosen && (chosen !== "tree" || isTree) ? chosen : isTree ? "tree" : "text";
  const whole = lensOf(body) === "base64" ? body : undefined;
  return (
    <section class="section">
      <header>
        <h2>{title}</h2>
        <div class="aside">
          <span>{sizeText(bytes.length)}</span>
          {whole && (
            <button type="button" class="small plain" onClick={() => void openLens(whole).then(setLens)}>
              open as…
            </button>
          )}
          <Modes modes={isTree ? ["tree", "text", "hex"] : ["text", "hex"]} mode={mode} set={setMode} />
          <CopyButton text={body} label="Copy the body" />
        </div>
      </header>
      {lens && <LensView lens={lens} close={() => setLens(undefined)} />}
      {mode === "tree" && parsed.root && (
        <JsonTree
          text={body}
          root={parsed.root}
          label={title}
          onClause={onClause}
          hasLens={(literal) => literal[0] === '"' && literal.length > 8 && lensOf(decodeString(literal)) !== undefined}
          onLens={(literal) => void openLens(decodeString(literal)).then(setLens)}
        />
      )}
      {mode === "text" && <TextView text={body} label={title} />}
      {mode === "hex" && <HexView bytes={bytes} label={title} />}
    </section>
  );
}

function LensView({ lens, close }: { lens: Awaited<ReturnType<typeof openLens>>; close: () => void }): JSX.Element {
  const root = lens.text === undefined ? undefined : parseJson(lens.text).root;
  return (
    <div class="lens">
      <div class="selection-bar">
        <span class="sentence">{lens.title}</span>
        <button type="button" class="small" onClick={close}>
          Original
        </button>
      </div>
      {lens.text === undefined ? (
        <HexView bytes={lens.bytes} label={lens.title} />
      ) : root ? (
        <JsonTree text={lens.text} root={root} label={lens.title} />
      ) : (
        <TextView text={lens.text} label={lens.title} />
      )}
    </div>
  );
}
