// JSON as it stands in a message: a tree of offsets into the text. Nothing is converted, so that
// 12345678901234567890, 1e400 and duplicate keys stay what they are. The parser uses no recursion: the depth of
// a hostile document is bounded by its length alone.

export type JsonKind = "object" | "array" | "string" | "number" | "true" | "false" | "null";

export interface JsonNode {
  kind: JsonKind;
  start: number;
  end: number; // One past the last character.
  keyStart: number; // Of the member's key with its quotes; -1 for values that are no members.
  keyEnd: number;
  children: JsonNode[]; // Empty for scalars.
}

export interface JsonProblem {
  position: number; // Offset in the text.
  message: string;
}

export type JsonResult = { root: JsonNode; problem?: undefined } | { root?: undefined; problem: JsonProblem };

const kNumber = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const kSpace = /[ \t\r\n]*/y;
const kWords: readonly ("true" | "false" | "null")[] = ["true", "false", "null"];

class Failed extends Error {
  constructor(
    readonly position: number,
    message: string,
  ) {
    super(message);
  }
}

class Parser {
  private at = 0;
  private readonly open: JsonNode[] = [];

  constructor(private readonly text: string) {}

  parse(): JsonNode {
    let root: JsonNode | undefined;
    this.space();
    for (;;) {
      const node = this.value();
      root ??= node;
      if (isContainer(node) && !this.closes(node)) {
        this.open.push(node);
        this.member(node);
        continue;
      }
      if (!this.next()) break;
    }
    this.space();
    if (this.at < this.text.length) throw new Failed(this.at, "There is more text after the end of the value.");
    return root;
  }

  // After a complete value: moves to the next one of the innermost open container, closing those that end here.
  // False when all are closed.
  private next(): boolean {
    for (;;) {
      const parent = this.open.at(-1);
      if (!parent) return false;
      this.space();
      if (this.text[this.at] === ",") {
        this.at++;
        this.space();
        this.member(parent);
        return true;
      }
      if (!this.closes(parent)) {
        throw new Failed(this.at, `Expected "," or "${parent.kind === "object" ? "}" : "]"}".`);
      }
      this.open.pop();
    }
  }

  private pendingKey: { start: number; end: number } | undefined;

  private member(parent: JsonNode): void {
    this.pendingKey = undefined;
    if (parent.kind !== "object") return;
    const start = this.at;
    if (this.text[start] !== '"') throw new Failed(start, "Expected a key in double quotes.");
    this.string();
    this.pendingKey = { start, end: this.at };
    this.space();
    if (this.text[this.at] !== ":") throw new Failed(this.at, 'Expected ":" after the key.');
    this.at++;
    this.space();
  }

  private value(): JsonNode {
    const node: JsonNode = {
      kind: "null",
      start: this.at,
      end: this.at,
      keyStart: this.pendingKey?.start ?? -1,
      keyEnd: this.pendingKey?.end ?? -1,
      children: [],
    };
    node.kind = this.scan();
    node.end = this.at;
    this.open.at(-1)?.children.push(node);
    this.pendingKey = undefined;
    return node;
  }

  private scan(): JsonKind {
    const c = this.text[this.at];
    if (c === "{" || c === "[") {
      this.at++;
      this.space();
      return c === "{" ? "object" : "array";
    }
    if (c === '"') {
      this.string();
      return "string";
    }
    for (const word of kWords) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return word;
      }
    }
    kNumber.lastIndex = this.at;
    const number = kNumber.exec(this.text);
    if (!number) throw new Failed(this.at, c === undefined ? "The text ends here." : "Expected a value.");
    this.at += number[0].length;
    return "number";
  }

  private string(): void {
    const start = this.at++;
    for (;;) {
      const c = this.text.charCodeAt(this.at);
      if (Number.isNaN(c)) throw new Failed(start, "This text in quotes does not end.");
      if (c < 0x20) throw new Failed(this.at, "A control character has to be escaped.");
      this.at++;
      if (c === 0x22) return;
      if (c === 0x5c) this.escape();
    }
  }

  private escape(): void {
    const c = this.text[this.at];
    if (c === "u") {
      if (!/^[0-9a-fA-F]{4}$/.test(this.text.slice(this.at + 1, this.at + 5))) {
        throw new Failed(this.at - 1, "Expected four hexadecimal digits after \\u.");
      }
      this.at += 5;
    } else if (c !== undefined && '"\\/bfnrt'.includes(c)) {
      this.at++;
    } else {
      throw new Failed(this.at - 1, "This escape does not exist in JSON.");
    }
  }

  private closes(node: JsonNode): boolean {
    if (this.text[this.at] !== (node.kind === "object" ? "}" : "]")) return false;
    node.end = ++this.at;
    return true;
  }

  private space(): void {
    kSpace.lastIndex = this.at;
    kSpace.exec(this.text);
    this.at = kSpace.lastIndex;
  }
}

export function isContainer(node: JsonNode): boolean {
  return node.kind === "object" || node.kind === "array";
}

export function parseJson(text: string): JsonResult {
  try {
    return { root: new Parser(text).parse() };
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    return { problem: { position: error.position, message: error.message } };
  }
}

const kEscapes: Record<string, string> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

// The text that a string literal stands for, quotes included in the literal. Lone surrogates stay.
export function decodeString(literal: string): string {
  return literal
    .slice(1, -1)
    .replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_, hex: string | undefined, c: string | undefined) =>
      hex !== undefined ? String.fromCharCode(Number.parseInt(hex, 16)) : (kEscapes[c ?? ""] ?? c ?? ""),
    );
}

export function encodeString(text: string): string {
  let out = '"';
  for (const c of text) {
    const code = c.codePointAt(0) ?? 0;
    if (c === '"' || c === "\\") out += `\\${c}`;
    else if (code < 0x20) out += `\\u${code.toString(16).padStart(4, "0")}`;
    else out += c;
  }
  return `${out}"`;
}

export function keyOf(text: string, node: JsonNode): string | undefined {
  return node.keyStart < 0 ? undefined : decodeString(text.slice(node.keyStart, node.keyEnd));
}

// One step of a path as the filter language writes it.
export function pathStep(step: string | number): string {
  if (typeof step === "number") return `[${step}]`;
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(step) ? `.${step}` : `["${step.replace(/[\\"]/g, "\\$&")}"]`;
}

export type PathSteps = readonly (string | number)[];

export function pathText(steps: PathSteps): string {
  return `$${steps.map(pathStep).join("")}`;
}

export function pointerText(steps: PathSteps): string {
  return steps.map((s) => `/${String(s).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

// The document with one member or element a line. Scalars are copied from the text, byte for byte.
export function prettyJson(text: string, root: JsonNode, indent = "  "): string {
  const out: string[] = [];
  const work: (string | { node: JsonNode; depth: number; comma: boolean })[] = [{ node: root, depth: 0, comma: false }];
  while (work.length > 0) {
    const item = work.pop();
    if (item === undefined) break;
    if (typeof item === "string") out.push(item);
    else writePretty(text, item.node, item.depth, item.comma, indent, out, work);
  }
  return out.join("");
}

type PrettyWork = (string | { node: JsonNode; depth: number; comma: boolean })[];

function writePretty(
  text: string,
  node: JsonNode,
  depth: number,
  comma: boolean,
  indent: string,
  out: string[],
  work: PrettyWork,
): void {
  const pad = indent.repeat(Math.min(depth, 200));
  const key = node.keyStart < 0 ? "" : `${text.slice(node.keyStart, node.keyEnd)}: `;
  const tail = comma ? "," : "";
  const lead = depth === 0 ? "" : `\n${pad}`;
  if (!isContainer(node) || node.children.length === 0) {
    const scalar = isContainer(node) ? (node.kind === "object" ? "{}" : "[]") : text.slice(node.start, node.end);
    out.push(`${lead}${key}${scalar}${tail}`);
    return;
  }
  out.push(`${lead}${key}${node.kind === "object" ? "{" : "["}`);
  work.push(`\n${pad}${node.kind === "object" ? "}" : "]"}${tail}`);
  for (let i = node.children.length - 1; i >= 0; i--) {
    const child = node.children[i];
    if (child) work.push({ node: child, depth: depth + 1, comma: i < node.children.length - 1 });
  }
}
