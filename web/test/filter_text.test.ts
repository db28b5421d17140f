import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { completions } from "../src/model/filter_completion";
import {
  addClause,
  attributeClause,
  bodyClause,
  filterClauses,
  filterTokens,
  negate,
  problemRange,
  removeClause,
} from "../src/model/filter_text";

const kinds = (text: string): string[] => filterTokens(text).map((t) => `${t.kind}:${text.slice(t.start, t.end)}`);

test("cuts filters into tokens", () => {
  assert.deepEqual(kinds('$.order.items[*].sku == "a b" and not attribute.region missing'), [
    "field:$.order.items[*].sku",
    "operator:==",
    'text:"a b"',
    "word:and",
    "word:not",
    "field:attribute.region",
    "operator:missing",
  ]);
  assert.deepEqual(kinds("sent<2026-01-31T10:00:00Z or (size>=10)"), [
    "field:sent",
    "operator:<",
    "number:2026-01-31T10:00:00Z",
    "word:or",
    "paren:(",
    "field:size",
    "operator:>=",
    "number:10",
    "paren:)",
  ]);
  assert.deepEqual(kinds("$.a is string"), ["field:$.a", "operator:is", "number:string"]);
});

// The cases of the server's own test, so that both agree on where words end.
test("knows every word of the server's test cases", () => {
  const source = readFileSync(new URL("../../tests/dead_letters/triage/filter_test.cpp", import.meta.url), "utf8");
  const table = /cases\[\] = \{(.*?)\n {2}\};/s.exec(source)?.[1] ?? "";
  const filters = [...table.matchAll(/\{"((?:[^"\\]|\\.)*)", (?:true|false)\}/g)].map((m) =>
    (m[1] ?? "").replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c)),
  );
  assert.ok(filters.length > 60, `${filters.length} cases`);
  for (const filter of filters) {
    const unknown = filterTokens(filter).filter((t) => t.kind === "unknown");
    assert.deepEqual(unknown, [], filter);
    assert.equal(filterClauses(filter).join(" and ").length > 0, true);
  }
});

test("takes a filter apart at its outer ands", () => {
  const cases: [string, string[]][] = [
    ["", []],
    ["a", ["a"]],
    ["size > 1 and source == 'and'", ["size > 1", "source == 'and'"]],
    [
      "size > 1 and (redriven > 0 or received > 3) and body contains ' or '",
      ["size > 1", "(redriven > 0 or received > 3)", "body contains ' or '"],
    ],
    ["size > 1 or size < 0", ["size > 1 or size < 0"]],
  ];
  for (const [text, clauses] of cases) assert.deepEqual(filterClauses(text), clauses, text);
});

test("adds, negates and removes clauses", () => {
  assert.equal(addClause("", "size > 1"), "size > 1");
  assert.equal(addClause("size > 1", "size > 1"), "size > 1");
  assert.equal(addClause("size > 1", "size > 1", true), "not size > 1");
  assert.equal(addClause("size > 1 or size < 0", "redriven > 0"), "(size > 1 or size < 0) and redriven > 0");
  assert.equal(addClause("size > 1", "a or b"), "size > 1 and (a or b)");
  assert.equal(negate("not size > 1"), "size > 1");
  assert.equal(negate("a and b"), "not (a and b)");
  assert.equal(removeClause("a and b and c", 1), "a and c");
});

test("makes clauses of values", () => {
  assert.equal(bodyClause(["n"], "number", "12345678901234567890"), "$.n == 12345678901234567890");
  assert.equal(bodyClause(["o"], "object", "{}"), "$.o is object");
  assert.equal(attributeClause('odd "name"', 'a"b'), 'attribute["odd \\"name\\""] == "a\\"b"');
  assert.equal(attributeClause("region", undefined), "attribute.region present");
});

test("finds the wrong word, counting bytes as the server does", () => {
  const text = 'body contains "é" und size > 1';
  const at = new TextEncoder().encode('body contains "é" ').length + 1;
  const range = problemRange(text, `At position ${at}: expected "and", "or" or the end, found "und".`);
  assert.equal(text.slice(range?.start, range?.end), "und");
  assert.equal(problemRange(text, "The queue does not exist."), undefined);
});

test("completes fields, operators and values", () => {
  const fields = [
    { path: "$.total", types: ["number"], values: [{ value: "7", count: 3 }] },
    { path: "attribute.region", types: ["String"], values: [{ value: "eu", count: 9 }] },
  ];
  assert.equal(completions("$.to", 4, fields).items[0]?.label, "$.total");
  assert.equal(completions("$.total ", 8, fields).items[0]?.label, "==");
  assert.deepEqual(completions("$.total == ", 11, fields).items[0], { text: "7 ", label: "7", note: "3" });
  assert.equal(completions("attribute.region == ", 20, fields).items[0]?.label, '"eu"');
  assert.deepEqual(
    completions("$.total == 7 ", 13, fields).items.map((i) => i.label),
    ["and", "or"],
  );
  assert.deepEqual(completions("size > 1 and sou", 16, []).items[0]?.label, "source");
});
