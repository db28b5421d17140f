import assert from "node:assert/strict";
import { test } from "node:test";
import { backoffMs } from "../src/model/backoff";
import { discardCommand, editCommand, redriveCommand, shellWord } from "../src/model/command_line";
import { countText, nounText, percentText, rateText, shortId, sizeText, useLocale } from "../src/model/format";
import { fuzzyFind, fuzzyScore } from "../src/model/fuzzy";
import { makePatch, patchText } from "../src/model/json_patch";
import { fromBase64, lensOf, toBase64 } from "../src/model/lens";
import { type AttemptLike, lifeOf, tellingAttempt } from "../src/model/life";
import { lineDiff } from "../src/model/line_diff";
import { policyPoints, retrierPoints, spread } from "../src/model/retry_timeline";
import { href, links, parseRoute } from "../src/model/routes";
import { contentHeight, rowWindow, scrollToRow } from "../src/model/scroll";
import {
  isTicked,
  kNoTicks,
  selectionMembers,
  selectionParts,
  tick,
  tickedCount,
  withTicks,
} from "../src/model/selection";
import { frameCount, stackBlocks } from "../src/model/stack";
import { durationText, kRanges, relativeText, stepFor, timeText } from "../src/model/time";
import { cutLines, hexLines, visiblePieces } from "../src/model/visible_text";
import { childrenOf, parseXml, textOf } from "../src/model/xml";

useLocale("en-US");

test("durations name the unit that matters", () => {
  const cases: [number, string][] = [
    [250, "250 ms"],
    [40_000, "40 s"],
    [14 * 60_000, "14 min"],
    [3_600_000, "1 h"],
    [3_600_000 + 5 * 60_000, "1 h 5 min"],
    [93 * 3_600_000, "3 d 21 h"],
    [12 * 86_400_000 + 3_600_000, "12 d"],
    [70 * 86_400_000, "2 months"],
    [800 * 86_400_000, "2 years"],
  ];
  for (const [ms, text] of cases) assert.equal(durationText(ms), text);
  assert.equal(relativeText(0, 40_000), "40 s ago");
  assert.equal(relativeText(93 * 3_600_000, 0), "in 3 d 21 h");
  assert.equal(relativeText(10, 20), "now");
  assert.equal(timeText(Date.UTC(2026, 0, 2, 3, 4, 5), Date.UTC(2026, 0, 2), "utc"), "03:04:05Z");
  assert.equal(timeText(Date.UTC(2026, 0, 2, 3, 4, 5), Date.UTC(2026, 0, 3), "utc"), "2026-01-02 03:04:05Z");
});

test("charts never have more than 2,000 points", () => {
  for (const range of kRanges) assert.ok(range.seconds / range.step <= 2000, range.name);
  assert.equal(stepFor(600, 600_000, 0), 1);
  assert.equal(stepFor(600, 1e12, 0) % 60, 0);
  assert.ok((14 * 86_400) / stepFor(14 * 86_400, 1e12, 0) <= 2000);
});

test("numbers, sizes and shares", () => {
  assert.equal(countText(1_000_000), "1,000,000");
  assert.equal(nounText(1, "message"), "1 message");
  assert.equal(nounText(0, "queue"), "0 queues");
  assert.deepEqual([1023, 1536, 20 * 1024, 5 * 1024 ** 2, 3 * 1024 ** 3].map(sizeText), [
    "1023 B",
    "1.5 KiB",
    "20 KiB",
    "5 MiB",
    "3 GiB",
  ]);
  assert.deepEqual([0, 0.01, 2.34, 10.6, 12345].map(rateText), ["–", "<0.1", "2.3", "11", "12,345"]);
  assert.deepEqual(
    [percentText(0, 9), percentText(1, 1000), percentText(999, 1000), percentText(9, 9)],
    ["0 %", "<1 %", "99 %", "100 %"],
  );
  assert.equal(shortId("9b1e0000-aaaa-04c7"), "9b1e…04c7");
  assert.equal(shortId("short"), "short");
});

test("waits double up to 15 s, with jitter below", () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 50].map((n) => backoffMs(n, () => 1)),
    [1000, 2000, 4000, 8000, 15_000, 15_000],
  );
  assert.equal(
    backoffMs(1, () => 0),
    750,
  );
});

test("a selection is a sentence and a request", () => {
  const base = { queue: "orders-dlq", group: "5f0c9a2e5f0c9a2e", filter: " $.a == 1 " };
  assert.deepEqual(selectionParts(base, 25), ["group 5f0c…9a2e", "$.a == 1", "25 messages"]);
  assert.deepEqual(selectionParts({ queue: "q" }, undefined), ["everything in q"]);
  assert.deepEqual(selectionMembers(base), { group: "5f0c9a2e5f0c9a2e", filter: "$.a == 1" });
  const all = tick({ all: true, keys: new Set() }, 7, false);
  assert.equal(isTicked(all, 7), false);
  assert.equal(isTicked(all, 8), true);
  assert.equal(tickedCount(all, 25), 24);
  assert.deepEqual(withTicks(base, all).except, [7]);
  assert.deepEqual(withTicks(base, tick(kNoTicks, 7, true)), { queue: "orders-dlq", keys: [7] });
  assert.deepEqual(withTicks(base, kNoTicks), base);
  assert.deepEqual(selectionParts(withTicks(base, all), 24).at(-1), "without 1");
  assert.equal(tickedCount(tick(tick(kNoTicks, 7, true), 7, false), 25), 0);
});

test("every action has its command, quoted for a shell", () => {
  assert.equal(shellWord("it's"), "'it'\\''s'");
  assert.equal(shellWord(""), "''");
  assert.equal(
    redriveCommand({ queue: "orders-dlq", group: "5f0c" }, { canary: [1, 10, 100], reason: "fixed in 1.4" }),
    "redrive dlq redrive orders-dlq --group 5f0c --canary --reason 'fixed in 1.4'",
  );
  assert.equal(
    redriveCommand({ queue: "q", filter: '$.a == "x"' }, { canary: [5], rate: 50, destination: "other" }),
    "redrive dlq redrive q --filter '$.a == \"x\"' --to other --rate 50 --stages 5",
  );
  assert.equal(redriveCommand({ queue: "q", keys: [1] }, {}), undefined);
  assert.equal(redriveCommand({ queue: "q", keys: [1] }, {}, ["9b1e"]), "redrive dlq redrive q --id 9b1e");
  assert.equal(discardCommand({ queue: "q" }, [], ""), "redrive dlq discard q --all");
  assert.equal(
    editCommand("q", "9b1e", {
      set: [{ name: "store_id", type: "Number", value: "3" }],
      remove: ["x"],
      redrive: true,
      reason: "left out",
    }),
    "redrive dlq edit q 9b1e --set store_id:Number=3 --remove x --redrive --reason 'left out'",
  );
});

test("hidden characters become visible, whatever they are", () => {
  const pieces = visiblePieces("a\u0000b\u202ec\ud800d\u200b");
  assert.deepEqual(pieces.map((p) => (p.mark ? `[${p.text}]` : p.text)).join(""), "a[NUL]b[RLO]c[U+D800]d[ZWSP]");
  assert.equal(
    visiblePieces("😀 line\n", true).some((p) => p.mark),
    false,
  );
  assert.equal(visiblePieces("line\n").at(-1)?.text, "LF");
});

test("long lines are cut, and surrogate pairs stay together", () => {
  const pieces = cutLines(`${"x".repeat(1999)}😀${"y".repeat(4000)}\nshort`);
  assert.ok(pieces.every((p) => p.text.length <= 2000));
  assert.equal(pieces.map((p) => p.text).join(""), `${"x".repeat(1999)}😀${"y".repeat(4000)}short`);
  assert.equal(pieces[1]?.continued, true);
  assert.equal(pieces.at(-1)?.continued, false);
  assert.ok(pieces.every((p) => !/[\ud800-\udbff]$/.test(p.text)));
});

test("bytes in hexadecimal", () => {
  assert.deepEqual(hexLines(new TextEncoder().encode("hello, wörld")), [
    "00000000  68 65 6c 6c 6f 2c 20 77  c3 b6 72 6c 64           hello, w··rld",
  ]);
});

test("stacks fold what is not of the application", () => {
  const python = [
    "Traceback (most recent call last):",
    '  File "/var/runtime/bootstrap.py", line 9, in run',
    "    handler(event)",
    '  File "/var/task/consumer/index.py", line 14, in handler',
    '    store = record["store_id"]',
    "KeyError: 'store_id'",
  ].join("\n");
  const blocks = stackBlocks(python);
  assert.deepEqual(
    blocks.map((b) => [b.runtime, b.lines.length]),
    [
      [false, 1],
      [true, 2],
      [false, 3],
    ],
  );
  assert.equal(frameCount(blocks[1] as never), 1);
  assert.equal(blocks[2]?.lines[0]?.place, "consumer/index.py:14");
  const node = stackBlocks("TypeError: x\n    at handler (/var/task/index.mjs:3:7)\n    at node:internal/x:1:2");
  assert.deepEqual(
    node.map((b) => b.lines.map((l) => l.kind)),
    [["error", "application"], ["runtime"]],
  );
});

test("a life folds equal failures and counts what is not kept", () => {
  const at = (s: number): string => new Date(s * 1000).toISOString();
  const failed = (s: number, message: string) => ({
    receivedAt: at(s),
    end: "failed",
    errorType: "E",
    errorMessage: message,
  });
  const entries = lifeOf(at(0), [failed(1, "a"), failed(2, "a"), failed(4, "b")], [{ at: at(3), what: "redriven" }], 3);
  assert.deepEqual(
    entries.map((e) => (e.kind === "attempts" ? `${e.kind}×${e.attempts.length}` : e.kind)),
    ["sent", "attempts×2", "event", "attempts×1"],
  );
  const many = Array.from({ length: 5 }, (_, i) => failed(i + 1, String(i)));
  const gapped = lifeOf(at(0), many, [], 10);
  assert.deepEqual(
    gapped.find((e) => e.kind === "gap"),
    { kind: "gap", at: at(4), count: 5 },
  );
  assert.deepEqual(
    gapped.flatMap((e) => (e.kind === "attempts" ? e.numbers : [])),
    [1, 2, 3, 9, 10],
  );
  assert.equal(tellingAttempt<AttemptLike>([failed(1, "a"), { receivedAt: at(2), end: "open" }])?.errorMessage, "a");
});

test("policies as points in time", () => {
  assert.deepEqual(
    policyPoints({ redriveAfterSeconds: 60, backoffRate: 2, maxRedrives: 3 }).map((p) => p.atSeconds),
    [60, 180, 420],
  );
  assert.deepEqual(policyPoints({ redriveAfterSeconds: 0 }), []);
  assert.deepEqual(
    retrierPoints({ ErrorEquals: ["T"], IntervalSeconds: 10, BackoffRate: 3, MaxAttempts: 3, MaxDelaySeconds: 30 }).map(
      (p) => p.afterSeconds,
    ),
    [10, 30, 30],
  );
  assert.equal(spread(policyPoints({ redriveAfterSeconds: 60, maxRedrives: 4 })).at(-1), 1);
});

test("a million rows fit into a scroll bar, and the last one is reached", () => {
  const g = { rowHeight: 32, rowCount: 1_000_000, viewHeight: 640 };
  const height = contentHeight(g);
  assert.ok(height <= 8_000_000);
  const end = rowWindow(g, height - g.viewHeight);
  assert.equal(end.first + end.count, 1_000_000);
  assert.ok(end.count < 80);
  const to = scrollToRow(g, 0, 500_000) ?? 0;
  const middle = rowWindow(g, to);
  assert.ok(middle.first <= 500_000 && middle.first + middle.count > 500_000);
  assert.equal(scrollToRow(g, to, 500_000), undefined);
  const few = { rowHeight: 32, rowCount: 3, viewHeight: 640 };
  assert.deepEqual(rowWindow(few, 0), { first: 0, count: 3, offset: 0 });
  assert.equal(scrollToRow(few, 0, 2), undefined);
});

test("routes survive odd names", () => {
  const odd = "a/b?c#d é%";
  const address = links.group(odd, "g 1", { m: 7 });
  const url = new URL(address, "http://x");
  const route = parseRoute(url.pathname, url.search);
  assert.equal(route.view, "group");
  assert.deepEqual(route.params, { queue: odd, group: "g 1" });
  assert.equal(route.query.get("m"), "7");
  assert.equal(parseRoute("/console/", "").view, "home");
  assert.equal(parseRoute("/console/nothing/here/at/all/x", "").view, "unknown");
  assert.equal(parseRoute("/console/queues/%E0%A4%A", "").params.queue, "%E0%A4%A");
  assert.equal(href(["queues"], { filter: "", on: false, n: 0 }), "/console/queues?n=0");
});

test("finds names by letters, best first, in time", () => {
  assert.equal(fuzzyScore("xyz", "orders"), undefined);
  const names = Array.from({ length: 5000 }, (_, i) => `shop-${i % 7}-orders-${i}-dlq`).concat("orders-dlq");
  assert.equal(fuzzyFind("orders-dlq", names, (n) => n)[0]?.item, "orders-dlq");
  assert.equal(fuzzyFind("odlq", names, (n) => n)[0]?.item, "orders-dlq");
  fuzzyFind("warm", names, (n) => n);
  const start = performance.now();
  fuzzyFind("s3o4dlq", names, (n) => n);
  assert.ok(performance.now() - start < 50);
});

test("patches change what changed and keep digits", () => {
  const patch = makePatch(
    '{"a":1,"b":[1,2,3],"c":{"d":"x"}}',
    '{"a":12345678901234567890,"b":[1,3],"c":{"d":"x","e/f":null}}',
  );
  assert.equal(
    patchText(patch ?? []),
    '[{"op": "replace", "path": "/a", "value": 12345678901234567890},\n {"op": "remove", "path": "/b/1"},\n ' +
      '{"op": "add", "path": "/c/e~1f", "value": null}]',
  );
  assert.equal(makePatch('{"a":1,"a":2}', '{"a":3}'), undefined);
  assert.equal(makePatch("x", "{}"), undefined);
  assert.deepEqual(makePatch("1", '"x"'), [{ op: "replace", path: "", value: '"x"' }]);
  assert.deepEqual(makePatch("{ }", "{}"), []);
});

test("line differences", () => {
  assert.deepEqual(
    lineDiff("a\nb\nc\nd", "a\nc\nx\nd").map((l) => `${l.kind[0]}${l.text}`),
    ["sa", "rb", "sc", "ax", "sd"],
  );
  assert.deepEqual(
    lineDiff("a\nb", "c\nd", 1).map((l) => l.kind),
    ["removed", "removed", "added", "added"],
  );
});

test("contents inside contents", () => {
  assert.equal(lensOf('{"a": 1}'), "json");
  assert.equal(lensOf("{no"), undefined);
  assert.equal(lensOf(toBase64(new TextEncoder().encode("hello hello hello"))), "base64");
  assert.equal(lensOf("abcd"), undefined);
  assert.deepEqual([...fromBase64(toBase64(Uint8Array.of(0, 255, 7)))], [0, 255, 7]);
});

test("reads S3's XML", () => {
  const xml = parseXml(
    '<?xml version="1.0"?><R xmlns="x"><Contents><Key>a&amp;b&#x2F;c</Key><Size>3</Size></Contents><Contents><Key/></Contents></R>',
  );
  assert.deepEqual(
    childrenOf(xml, "Contents").map((c) => textOf(c, "Key")),
    ["a&b/c", ""],
  );
});
