// Text that others wrote, cut into what can be shown as it is and characters that have to be made visible:
// controls, bidirectional marks, zero-width characters, halves of surrogate pairs.

export interface TextPiece {
  text: string;
  mark: boolean; // `text` is a name for a character that cannot be seen.
}

// Tab and line feed are kept when `multiline` is set.
const kHidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const kNames = new Map<number, string>([
  [0x00, "NUL"],
  [0x09, "TAB"],
  [0x0a, "LF"],
  [0x0d, "CR"],
  [0x1b, "ESC"],
  [0x7f, "DEL"],
  [0xad, "SHY"],
  [0x200b, "ZWSP"],
  [0x200c, "ZWNJ"],
  [0x200d, "ZWJ"],
  [0x200e, "LRM"],
  [0x200f, "RLM"],
  [0x202a, "LRE"],
  [0x202b, "RLE"],
  [0x202c, "PDF"],
  [0x202d, "LRO"],
  [0x202e, "RLO"],
  [0x2066, "LRI"],
  [0x2067, "RLI"],
  [0x2068, "FSI"],
  [0x2069, "PDI"],
  [0xfeff, "BOM"],
]);

export function nameOfCharacter(code: number): string {
  return kNames.get(code) ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

export function visiblePieces(text: string, multiline = false): TextPiece[] {
  const pieces: TextPiece[] = [];
  let from = 0;
  for (const found of text.matchAll(kHidden)) {
    const code = found[0].charCodeAt(0);
    if (multiline && (code === 0x09 || code === 0x0a)) continue;
    if (found.index > from) pieces.push({ text: text.slice(from, found.index), mark: false });
    pieces.push({ text: nameOfCharacter(code), mark: true });
    from = found.index + 1;
  }
  if (from < text.length || pieces.length === 0) pieces.push({ text: text.slice(from), mark: false });
  return pieces;
}

export const kPieceLength = 2000;

// Lines of a text, none longer than kPieceLength: a browser lays out a million characters in one line slowly.
// `continued` marks what is the rest of a line.
export function cutLines(text: string): { text: string; continued: boolean }[] {
  const lines: { text: string; continued: boolean }[] = [];
  for (const line of text.split("\n")) {
    if (line.length <= kPieceLength) {
      lines.push({ text: line, continued: false });
      continue;
    }
    for (let at = 0; at < line.length; ) {
      let end = Math.min(at + kPieceLength, line.length);
      const code = line.charCodeAt(end - 1);
      if (end < line.length && code >= 0xd800 && code <= 0xdbff) end--; // Keep surrogate pairs together.
      lines.push({ text: line.slice(at, end), continued: at > 0 });
      at = end;
    }
  }
  return lines;
}

export function hexLines(bytes: Uint8Array, from = 0, lines = 1024): string[] {
  const out: string[] = [];
  for (let at = from; at < bytes.length && out.length < lines; at += 16) {
    const row = bytes.subarray(at, at + 16);
    const hex = Array.from(row, (b) => b.toString(16).padStart(2, "0"));
    const text = Array.from(row, (b) => (b >= 0x20 && b < 0x7f ? String.fromCharCode(b) : "·")).join("");
    const left = hex.slice(0, 8).join(" ").padEnd(23);
    const right = hex.slice(8).join(" ").padEnd(23);
    out.push(`${at.toString(16).padStart(8, "0")}  ${left}  ${right}  ${text}`);
  }
  return out;
}
