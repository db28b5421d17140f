// A stack trace by lines: which are frames of the application, which of the runtime or of packages.

export type StackLineKind = "error" | "application" | "runtime" | "source" | "cause";

export interface StackLine {
  kind: StackLineKind;
  text: string;
  function?: string;
  place?: string; // File and line.
}

const kForeign =
  /site-packages|dist-packages|\/lib(?:64)?\/python|\/opt\/python\/|\/var\/runtime\/|\/var\/lang\/|<frozen |node_modules|node:|internal\/|\/go\/src\/|\/pkg\/mod\/|\/vendor\/|redrive-bootstrap|bootstrap\.(?:py|mjs)/;
const kForeignNames =
  /^(?:java|javax|jakarta|jdk|sun|com\.sun|kotlin|kotlinx|scala|org\.springframework|org\.apache|com\.amazonaws|software\.amazon|lambdainternal|System|Microsoft|Amazon)\./;

const kPython = /^\s*File "([^"]+)", line (\d+)(?:, in (.+))?/;
const kAt = /^\s*at (?:async )?(?:(.+?) )?\(?([^()\s]+:\d+(?::\d+)?|[^()]+\.java:\d+|<anonymous>|native)\)?$/;
const kJava = /^\s*at ([\w$.<>]+)\(([^)]*)\)$/;
const kDotNet = /^\s*at (.+?) in (.+):line (\d+)$/;

function frame(name: string | undefined, place: string, text: string): StackLine {
  const foreign = kForeign.test(place) || kForeignNames.test(name ?? "");
  return { kind: foreign ? "runtime" : "application", text, function: name ?? "", place: shortPlace(place) };
}

function shortPlace(place: string): string {
  return place.replace(/^file:\/\//, "").replace(/^.*\/(?:task|app|src|code|workspace)\//, "");
}

function lineOf(text: string): StackLine {
  const python = kPython.exec(text);
  if (python) return frame(python[3], `${python[1]}:${python[2]}`, text);
  const net = kDotNet.exec(text);
  if (net) return frame(net[1], `${net[2]}:${net[3]}`, text);
  const java = kJava.exec(text);
  if (java?.[2]?.includes(".java")) return frame(java[1], java[2], text);
  const at = kAt.exec(text);
  if (at?.[2]) return frame(at[1], at[2], text);
  if (/^\s*(?:Caused by|During handling|The above exception)/.test(text)) return { kind: "cause", text };
  return { kind: /^\s/.test(text) ? "source" : "error", text };
}

// A source line belongs to the frame before it.
export function stackLines(trace: string): StackLine[] {
  const lines = trace
    .split("\n")
    .filter((l) => l.trim() !== "")
    .map(lineOf);
  lines.forEach((line, i) => {
    if (line.kind === "source" && lines[i - 1]?.kind === "runtime") line.kind = "runtime";
  });
  return lines;
}

export interface StackBlock {
  runtime: boolean;
  lines: StackLine[];
}

// Neighbouring runtime frames together, so that they can be folded into "3 frames of the runtime".
export function stackBlocks(trace: string): StackBlock[] {
  const blocks: StackBlock[] = [];
  for (const line of stackLines(trace)) {
    const runtime = line.kind === "runtime";
    const last = blocks.at(-1);
    if (last && last.runtime === runtime) last.lines.push(line);
    else blocks.push({ runtime, lines: [line] });
  }
  return blocks;
}

export const frameCount = (block: StackBlock): number => block.lines.filter((l) => l.place !== undefined).length;
