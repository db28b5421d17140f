import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonRows, openAtFirst } from "../src/model/json_rows";
import {
  decodeString,
  encodeString,
  keyOf,
  parseJson,
  pathText,
  pointerText,
  prettyJson,
} from "../src/model/json_tokens";

test("keeps numbers, duplicate keys and escapes as they stand", () => {
  const text = '{"a":12345678901234567890,"a":1e400,"b":[-0.10,"\\u00e9\\ud800"],"c":{}}';
  const { root } = parseJson(text);
  assert.ok(root);
  assert.deepEqual(
    root.children.map((c) => [keyOf(text, c), c.kind, text.slice(c.start, c.end)]),
    [
      ["a", "number", "12345678901234567890"],
      ["a", "number", "1e400"],
      ["b", "array", '[-0.10,"\\u00e9\\ud800"]'],
      ["c", "object", "{}"],
    ],
  );
  assert.equal(
    prettyJson(text, root),
    '{\n  "a": 12345678901234567890,\n  "a": 1e400,\n  "b": [\n    -0.10,\n    "\\u00e9\\ud800"\n  ],\n  "c": {}\n}',
  );
});

test("takes what JSON.parse takes, and refuses what it refuses", () => {
  const texts = [
    "1",
    " [ ] ",
    '"x"',
    "null",
    "true",
    '{"a":{"b":[1,2,{"c":null}]}}',
    '[1,"a\\n"]',
    "-0",
    "0.5e-3",
    '"\u2028"',
    "",
    "{",
    "[1,]",
    "{,}",
    '{"a"}',
    '{"a":}',
    "01",
    "1.",
    "+1",
    "'a'",
    "[1 2]",
    "nul",
    "tru",
    '"a',
    '"\\x"',
    '"\\u12g4"',
    '"a\nb"',
    "{}x",
    "[}",
    '{"a":1,}',
    "NaN",
    "]",
  ];
  for (const text of texts) {
    let fits = true;
    try {
      JSON.parse(text);
    } catch {
      fits = false;
    }
    assert.equal(parseJson(text).root !== undefined, fits, text);
  }
});

test("says where a text stops being JSON", () => {
  const cases: [string, number, RegExp][] = [
    ['{"a":1 "b":2}', 7, /Expected ","/],
    ['{"a" 1}', 5, /":"/],
    ["[1,2", 4, /Expected ","/],
    ["[1,", 3, /ends here/],
    ["{} x", 3, /more text/],
  ];
  for (const [text, position, message] of cases) {
    const { problem } = parseJson(text);
    assert.equal(problem?.position, position, text);
    assert.match(problem?.message ?? "", message);
  }
});

test("survives a document that is nested a hundred thousand deep", () => {
  const text = "[".repeat(100_000) + "]".repeat(100_000);
  const { root } = parseJson(text);
  assert.ok(root);
  assert.ok(jsonRows(text, root, openAtFirst(root)).length >= 200);
  assert.ok(prettyJson(text, root).length > text.length);
});

test("decodes and encodes texts, lone surrogates included", () => {
  assert.equal(decodeString('"a\\n\\"\\\\\\/\\u0041\\ud800"'), 'a\n"\\/A\ud800');
  assert.equal(decodeString(encodeString('a"\\\n\u0001')), 'a"\\\n\u0001');
});

test("writes paths for filters and pointers for patches", () => {
  assert.equal(pathText([]), "$");
  assert.equal(pathText(["order", "items", 0, "odd key", 'q"\\']), '$.order.items[0]["odd key"]["q\\"\\\\"]');
  assert.equal(pointerText(["a/b", "m~n", 0]), "/a~1b/m~0n/0");
});

test("folds what is deep or wide, and keeps paths", () => {
  const text = JSON.stringify({ a: [1, { b: 2 }], wide: Array.from({ length: 1000 }, (_, i) => i) });
  const { root } = parseJson(text);
  assert.ok(root);
  const open = openAtFirst(root, 50);
  const rows = jsonRows(text, root, open);
  assert.equal(rows.find((r) => r.label === "wide")?.folded, true);
  open.add(root.children[0] as never);
  const opened = jsonRows(text, root, open);
  const element = opened.find((r) => r.index === 1 && !r.closing);
  assert.deepEqual(element?.steps, ["a", 1]);
  assert.equal(opened.at(-1)?.closing, true);
});
