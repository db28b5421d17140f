// The budgets that a browser can measure.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { story } from "./harness";
import { seedShop } from "./seed_shop";

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

// Slower machines are allowed for: CONSOLE_BUDGET_FACTOR=3.
const kFactor = Number(process.env.CONSOLE_BUDGET_FACTOR ?? 1);

async function firstRow(page: Page, url: string): Promise<number> {
  await page.goto(url);
  await page.locator("a.row-link").first().waitFor();
  return page.evaluate(() => performance.now());
}

story("13: sizes, first view, and the way from view to view", {}, async ({ client, page, server }) => {
  const sizes = JSON.parse(readFileSync("dist/sizes.json", "utf8")) as { first: number; all: number };
  assert.ok(sizes.first <= 75_000, `first view: ${sizes.first} bytes`);
  assert.ok(sizes.all <= 220_000, `all: ${sizes.all} bytes`);

  await seedShop(client, true);
  let requests = 0;
  page.on("request", () => requests++);
  const cold = await firstRow(page, `${server.url}/console/dead-letters`);
  const warm: number[] = [];
  for (let i = 0; i < 9; i++) warm.push(await firstRow(page, `${server.url}/console/dead-letters`));
  console.log(
    `first view with data: cold ${cold.toFixed(0)} ms, warm ${median(warm).toFixed(0)} ms; ${requests} requests for 10 visits`,
  );
  assert.ok(cold <= 300 * kFactor, `cold ${cold} ms`);
  assert.ok(median(warm) <= 100 * kFactor, `warm ${median(warm)} ms`);

  const { groups } = await client.manage("GET", "groups");
  const steps: number[] = [];
  for (let i = 0; i < 5; i++) {
    await page.goto(`${server.url}/console/dead-letters`);
    await page.locator("a.row-link").first().waitFor();
    await page.waitForTimeout(300);
    const start = Date.now();
    await page.locator("a.row-link").first().click();
    await page.getByText("What sets them apart").waitFor();
    steps.push(Date.now() - start);
  }
  console.log(`inbox to group: ${median(steps)} ms of ${groups.length} groups`);
  assert.ok(median(steps) <= 200 * kFactor, `view to view ${median(steps)} ms`);
});

story("13: a long list keeps few rows and scrolls", {}, async ({ client, page, server }) => {
  const url = await client.pair("many", { receives: 1 });
  const count = Number(process.env.CONSOLE_MANY ?? 2000);
  for (let i = 0; i < count; i += 500) {
    await client.send(
      url,
      Array.from({ length: Math.min(500, count - i) }, (_, j) => ({ body: { n: i + j } })),
    );
  }
  await page.goto(`${server.url}/console/queues/many/messages`);
  await page.getByRole("row").nth(5).waitFor();
  const scroller = page.locator(".scroller");
  for (const share of [0.25, 0.9, 0.5, 1, 0]) {
    await scroller.evaluate((e, s) => {
      e.scrollTop = s * (e.scrollHeight - e.clientHeight);
    }, share);
    await page.waitForFunction(() => document.querySelectorAll(".grid-row:not(.loading)").length > 5);
    const rows = await page.locator(".grid-row").count();
    assert.ok(rows <= 80, `${rows} rows`);
  }
  await scroller.evaluate((e) => {
    e.scrollTop = e.scrollHeight;
  });
  await page.waitForFunction((n) => document.querySelector(`[aria-rowindex="${n + 1}"]:not(.loading)`) !== null, count);
});
