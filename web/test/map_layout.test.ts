import assert from "node:assert/strict";
import { test } from "node:test";
import { edgeWidth, foldByPrefix, layoutMap, type MapNode } from "../src/model/map_layout";

const node = (id: string, kind: MapNode["kind"]): MapNode => ({ id, kind, label: id });

test("places kinds in columns, without overlap", () => {
  const nodes = [
    node("a", "queue"),
    node("b", "queue"),
    node("f", "function"),
    node("d", "dlq"),
    node("s", "producer"),
  ];
  const drawing = layoutMap(nodes, [
    { from: "s", to: "a", rate: 1 },
    { from: "a", to: "f", rate: 100 },
    { from: "f", to: "d", rate: 0 },
    { from: "d", to: "a", rate: 0, back: true },
    { from: "a", to: "gone", rate: 1 },
  ]);
  const x = (id: string): number => drawing.nodes.find((n) => n.id === id)?.x ?? -1;
  assert.ok(x("s") < x("a") && x("a") < x("f") && x("f") < x("d"));
  assert.equal(x("a"), x("b"));
  for (const one of drawing.nodes) {
    for (const other of drawing.nodes) {
      if (one !== other && one.x === other.x) assert.ok(Math.abs(one.y - other.y) >= one.height);
    }
    assert.ok(one.x + one.width <= drawing.width && one.y + one.height <= drawing.height);
  }
  assert.equal(drawing.edges.length, 4);
  assert.deepEqual(
    drawing.edges.filter((e) => e.back).map((e) => e.from),
    ["d"],
  );
  assert.ok(drawing.edges.every((e) => !e.path.includes("NaN")));
});

test("orders columns so that edges cross less", () => {
  const nodes = [node("q1", "queue"), node("q2", "queue"), node("d2", "dlq"), node("d1", "dlq")];
  const drawing = layoutMap(nodes, [
    { from: "q1", to: "d1", rate: 0 },
    { from: "q2", to: "d2", rate: 0 },
  ]);
  const y = (id: string): number => drawing.nodes.find((n) => n.id === id)?.y ?? -1;
  assert.equal(y("q1") < y("q2"), y("d1") < y("d2"));
});

test("an edge is as wide as its traffic", () => {
  assert.equal(edgeWidth(0), 1);
  assert.ok(edgeWidth(10) > edgeWidth(1));
  assert.ok(edgeWidth(1e9) <= 6);
});

test("folds names by prefix", () => {
  assert.deepEqual(
    [...foldByPrefix(["shop-a", "shop-b", "mail"])],
    [
      ["shop", ["shop-a", "shop-b"]],
      ["mail", ["mail"]],
    ],
  );
});
