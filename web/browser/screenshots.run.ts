// make screenshots: pictures of the console for docs/images/, from the shop's bad night.

import { mkdirSync } from "node:fs";
import type { Page } from "playwright-core";
import type { Client } from "./client";
import { closeBrowser, Server, theBrowser } from "./harness";
import { kGoodConsumer, seedShop } from "./seed_shop";

const kOut = new URL("../../docs/images/", import.meta.url).pathname;

async function shoot(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  await page.waitForTimeout(800);
  await page.screenshot({ path: `${kOut}console-${name}.png` });
}

async function open(client: Client, theme: "light" | "dark", size = { width: 1280, height: 800 }): Promise<Page> {
  const context = await (await theBrowser()).newContext({
    viewport: size,
    colorScheme: theme,
    locale: "en-US",
    timezoneId: "UTC",
  });
  const page = await context.newPage();
  await page.goto(`${client.url}/console/dead-letters`);
  await page.locator("a.row-link").first().waitFor();
  return page;
}

interface Addresses {
  group: string;
  other: string;
  message: number;
}

async function addresses(client: Client): Promise<Addresses> {
  const { groups } = await client.manage("GET", "groups");
  const orders = groups.find((g: { queue: string }) => g.queue === "orders-dlq");
  const payments = groups.find((g: { queue: string }) => g.queue === "payments-dlq");
  const { messages } = await client.manage("GET", "queues/payments-dlq/messages?limit=1");
  return {
    group: `/console/queues/orders-dlq/groups/${orders.id}`,
    other: `/console/queues/payments-dlq/groups/${payments.id}`,
    message: messages[0].key,
  };
}

// What can be seen without changing anything.
async function quietViews(client: Client, at: Addresses, theme: "light" | "dark"): Promise<void> {
  const page = await open(client, theme);
  const views: [string, string][] = [
    ["inbox", "/console/dead-letters"],
    ["group", at.group],
    ["message", `/console/queues/payments-dlq/messages/${at.message}`],
    ["messages", "/console/queues/payments-dlq/messages"],
    ["queues", "/console/queues"],
    ["queue", "/console/queues/orders"],
    ["map", "/console/map"],
    ["function", "/console/functions/consumer"],
  ];
  for (const [name, path] of views) {
    await page.goto(client.url + path);
    await page.locator("h1").first().waitFor();
    await shoot(page, `${name}-${theme}`);
  }
  await page.context().close();
}

async function halted(client: Client, at: Addresses): Promise<void> {
  const page = await open(client, "light");
  await page.goto(client.url + at.group);
  await page.getByRole("button", { name: /Redrive \d+…/ }).click();
  await shoot(page, "redrive-light");
  await page.getByRole("button", { name: /first 1/ }).click();
  await client.until(
    async () => {
      await client.advance(1);
      return client.manage("GET", "jobs");
    },
    ({ jobs }) => jobs[0]?.status === "halted",
  );
  await page.getByRole("link", { name: "Open the job's page" }).click();
  await page.getByText("Before the redrive").waitFor();
  await shoot(page, "halted-light");
  await page.getByRole("button", { name: "Cancel job…" }).click();
  await page.getByRole("button", { name: "Cancel job", exact: true }).click();
  await page.context().close();
}

async function receipt(client: Client, at: Addresses): Promise<void> {
  await client.redeploy("consumer", kGoodConsumer);
  const page = await open(client, "light");
  await page.goto(client.url + at.group);
  await page.getByRole("button", { name: /Redrive \d+…/ }).click();
  await page.getByRole("button", { name: /first 1/ }).click();
  await shoot(page, "running-light");
  await client.until(
    async () => {
      await client.advance(1);
      return client.manage("GET", "jobs");
    },
    ({ jobs }) => jobs[0]?.status === "completed" && jobs[0].open === 0,
  );
  await page
    .getByText(/0 failed again\./)
    .first()
    .waitFor();
  await shoot(page, "receipt-light");
  await page.context().close();
}

mkdirSync(kOut, { recursive: true });
const server = new Server(["--virtual-clock", "--virtual-clock-start", "2026-11-17T10:00:00Z"]);
await server.start();
try {
  const { client } = server;
  await seedShop(client, true);
  const at = await addresses(client);
  await quietViews(client, at, "light");
  await quietViews(client, at, "dark");
  const phone = await open(client, "light", { width: 390, height: 844 });
  await phone.goto(client.url + at.other);
  await shoot(phone, "group-phone");
  await halted(client, at);
  await receipt(client, at);
} finally {
  await closeBrowser();
  await server.remove();
}
