// From the notice to the proof: by mouse, by keyboard, and when the canary halts.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { Client } from "./client";
import { story } from "./harness";
import { kBadConsumer, kGoodConsumer, seedOrders } from "./seed_shop";

async function groupOf(client: Client): Promise<string> {
  const { groups } = await client.manage("GET", "queues/orders-dlq/groups");
  return groups[0].id;
}

async function jobOf(client: Client): Promise<{ id: string; status: string; succeeded: number; open: number }> {
  return (await client.manage("GET", "jobs")).jobs[0];
}

// Time moves while a job waits for what becomes of its messages.
async function untilOver(client: Client, wanted: string): Promise<void> {
  await client.until(
    async () => {
      await client.advance(1);
      return jobOf(client);
    },
    (job) => job.status === wanted && (wanted !== "completed" || job.open === 0),
  );
}

async function seesCause(page: Page): Promise<void> {
  await page.getByText("All 25 lack attribute store_id. None of the processed does.").waitFor();
  await page.getByText("25 / 25").first().waitFor();
  await page.getByRole("region", { name: "Message", exact: true }).waitFor();
}

story("1: notice, cause, try, canary, proof, by mouse", {}, async ({ client, page, goto }) => {
  await seedOrders(client, { virtual: true });
  const group = await groupOf(client);
  let clicks = 0;
  const click = async (name: string | RegExp): Promise<void> => {
    clicks++;
    await page.getByRole("button", { name }).first().click();
  };
  await goto(`/console/queues/orders-dlq/groups/${group}`);
  await seesCause(page);
  const button = await page.getByRole("button", { name: /Redrive 25…/ }).boundingBox();
  assert.ok(button && button.y + button.height < 800, "the next step is in view without scrolling");

  await click("Try on a copy");
  await page.getByText("fails as recorded").waitFor();
  await client.redeploy("consumer", kGoodConsumer);
  await click("Try again");
  await page.getByText("succeeds now").waitFor();
  await click("Close");
  await click(/Redrive 25…/);
  await click("Redrive 25, first 1");
  await untilOver(client, "completed");
  await page.getByText("25 redriven, 25 processed, 0 failed again.").first().waitFor();
  await click("Mark the group resolved");
  await page.getByText("The group is resolved").first().waitFor();
  assert.ok(clicks <= 6 + 1, `${clicks} clicks`); // One of them ran the handler a second time.
  const groups = await client.manage("GET", `queues/orders-dlq/groups/${group}`);
  assert.equal(groups.status, "resolved");
});

story("2: the same by keyboard alone", {}, async ({ client, page, goto }) => {
  await seedOrders(client, { virtual: true });
  await client.redeploy("consumer", kGoodConsumer);
  let keys = 0;
  const press = async (key: string): Promise<void> => {
    keys++;
    await page.keyboard.press(key);
  };
  await goto("/console/");
  await page.getByText("KeyError: 'store_id'").first().waitFor();
  await page.locator("a.row-link").first().focus();
  await press("Enter");
  await seesCause(page);
  await press("t");
  await page.getByText("succeeds now").waitFor();
  await press("Escape");
  await press("r");
  await page.getByRole("button", { name: "Redrive 25, first 1" }).waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent?.startsWith("Redrive 25, first 1"));
  await press("Enter");
  assert.ok(keys <= 10, `${keys} keys`);
  await untilOver(client, "completed");
  await page.getByText("25 redriven, 25 processed, 0 failed again.").first().waitFor();
});

story("4: the canary halts, says why, and is cancelled", {}, async ({ client, page, goto }) => {
  await seedOrders(client, { virtual: true });
  const group = await groupOf(client);
  await client.redeploy("consumer", `${kBadConsumer}\n# another version\n`);
  await goto(`/console/queues/orders-dlq/groups/${group}`);
  await seesCause(page);
  await page.keyboard.press("r");
  await page.getByRole("button", { name: "Redrive 25, first 1" }).click();
  await untilOver(client, "halted");
  await page
    .getByText(/failed again/i)
    .first()
    .waitFor();
  await page.getByRole("link", { name: "Open the job's page" }).click();
  await page.getByText("Before the redrive").waitFor();
  await page.getByText("After it").waitFor();
  await page.getByRole("button", { name: "Go on anyway" }).click();
  await untilOver(client, "halted");
  await page.getByRole("button", { name: "Cancel job…" }).click();
  await page.getByRole("button", { name: "Cancel job", exact: true }).click();
  await page.getByText("cancelled").first().waitFor();
  const job = await jobOf(client);
  assert.equal(job.status, "cancelled");
});
