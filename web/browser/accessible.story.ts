// axe-core on every view in both themes; 320 pixels and 200 % without sideways scrolling; budgets.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { story } from "./harness";
import { seedShop } from "./seed_shop";

const kAxe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

// The context bypasses the policy, which forbids scripts that the page does not name; the other stories keep it.
async function axe(page: Page, view: string): Promise<string[]> {
  await page.locator("h1, .enter").first().waitFor();
  await page.waitForTimeout(300);
  await page.evaluate(kAxe);
  const violations = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run: () => Promise<{ violations: Violation[] }> } };
    return (await axe.run()).violations;
  });
  return violations.map(
    (v) =>
      `${view}: ${v.impact} ${v.id}: ${v.nodes
        .slice(0, 3)
        .map((n) => n.html.slice(0, 160))
        .join(" | ")}`,
  );
}

const kViews = [
  "/console/dead-letters",
  "/console/queues",
  "/console/queues/payments-dlq",
  "/console/queues/payments-dlq/messages",
  "/console/queues/payments-dlq/settings",
  "/console/queues/payments-dlq/bin",
  "/console/jobs",
  "/console/functions",
  "/console/functions/consumer",
  "/console/map",
  "/console/alarms",
  "/console/alarms/dead%20letters%20in%20payments-dlq",
  "/console/archive",
  "/console/archive/graveyard",
  "/console/doctor",
  "/console/audit",
  "/console/log",
  "/console/find?q=9001",
];

for (const theme of ["light", "dark"] as const) {
  story(
    `12: axe finds nothing, ${theme}`,
    { context: { colorScheme: theme, bypassCSP: true } },
    async ({ client, page, goto, server }) => {
      await seedShop(client, true);
      const { groups } = await client.manage("GET", "groups");
      const { messages } = await client.manage("GET", "queues/payments-dlq/messages?limit=1");
      const { job } = await client.manage("POST", "queues/orders-dlq/jobs", { limit: 1 });
      const views = [
        ...kViews,
        `/console/queues/${groups[0].queue}/groups/${groups[0].id}`,
        `/console/queues/payments-dlq/messages/${messages[0].key}`,
        `/console/queues/payments-dlq/messages/${messages[0].key}?edit=1`,
        `/console/lineage/${messages[0].lineageId}`,
        `/console/jobs/${job.id}`,
      ];
      const found: string[] = [];
      for (const view of views) {
        await goto(view);
        found.push(...(await axe(page, view)));
      }
      assert.deepEqual(found, [], server.url);
    },
  );
}

story(
  "12: 320 pixels wide, and twice the size, without sideways scrolling",
  {},
  async ({ client, page, newPage, server }) => {
    await seedShop(client, true);
    const { groups } = await client.manage("GET", "groups");
    const views = [...kViews, `/console/queues/${groups[0].queue}/groups/${groups[0].id}`];
    const zoomed = await newPage({ viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 });
    await page.setViewportSize({ width: 320, height: 640 });
    const wide: string[] = [];
    for (const view of views) {
      for (const [at, tab] of [
        ["320 px", page],
        ["200 %", zoomed],
      ] as const) {
        await tab.goto(server.url + view);
        await tab.locator("h1").first().waitFor();
        await tab.waitForTimeout(200);
        const over = await tab.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        if (over > 0) wide.push(`${view} at ${at}: ${over} px`);
      }
    }
    assert.deepEqual(wide, []);
  },
);
