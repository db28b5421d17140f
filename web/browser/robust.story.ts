// Contact lost and found, hostile contents, deep links, many tabs.

import assert from "node:assert/strict";
import { story } from "./harness";
import { kGoodConsumer, seedOrders, seedPayments, seedShop } from "./seed_shop";

story(
  "5: the server is killed in the middle of a job and comes back",
  { flags: [] },
  async ({ client, server, page, goto, allow }) => {
    allow(/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_INCOMPLETE/);
    await seedOrders(client);
    await client.redeploy("consumer", kGoodConsumer);
    const { groups } = await client.manage("GET", "queues/orders-dlq/groups");
    await goto(`/console/queues/orders-dlq/groups/${groups[0].id}`);
    await page.getByRole("button", { name: /Redrive 25…/ }).click();
    await page.getByLabel("Messages a second").fill("2");
    await page.getByRole("button", { name: "Redrive 25" }).click();
    await page.getByText("running").first().waitFor();
    await server.end("SIGKILL");
    await page.getByText(/No contact since/).waitFor({ timeout: 20_000 });
    assert.equal(await page.getByRole("button", { name: "Pause" }).isDisabled(), true);
    await server.start();
    await page.getByText(/Back after \d+ s/).waitFor({ timeout: 30_000 });
    await page.getByText("25 redriven, 25 processed, 0 failed again.").first().waitFor({ timeout: 60_000 });
  },
);

const kHostile = {
  script: '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">',
  bidi: "\u202eabc\u2066\u200b",
  nul: "a\\u0000b",
  surrogate: "\\ud800",
};

story("6: hostile contents, names and errors stay texts", {}, async ({ client, page, goto }) => {
  const url = await client.pair("hostile", { receives: 1 });
  const bodies = [
    `{"html":${JSON.stringify(kHostile.script)},"bidi":"${kHostile.bidi}","nul":"${kHostile.nul}","half":"${kHostile.surrogate}","n":12345678901234567890,"n":2}`,
    `{"line":"${"x".repeat(900_000)}"}`,
    "[".repeat(2000) + "]".repeat(2000),
    kHostile.script,
  ];
  for (const body of bodies) await client.send(url, [{ body }]);
  await client.work(url, () => ({ errorType: kHostile.script, errorMessage: `${kHostile.script}${kHostile.bidi}` }));
  await client.until(
    () => client.manage("GET", "queues/hostile-dlq/groups"),
    (g) => g.ungrouped === 0 && g.groups.length > 0,
  );
  await goto("/console/dead-letters");
  await page.getByText("window.hacked").first().waitFor();
  const { messages } = await client.manage("GET", "queues/hostile-dlq/messages?limit=10");
  for (const message of messages) {
    const start = Date.now();
    await goto(`/console/queues/hostile-dlq/messages/${message.key}`);
    await page.getByText("What it has been through").waitFor();
    assert.ok(Date.now() - start < 10_000);
  }
  await goto(`/console/queues/hostile-dlq/messages/${messages[0].key}`);
  await page.getByText("12345678901234567890").waitFor();
  assert.equal(await page.locator(".json-row .t-key", { hasText: '"n"' }).count(), 2);
  await page.locator(".code-view .hidden-character", { hasText: "RLO" }).first().waitFor();
  assert.equal(await page.evaluate(() => (window as { hacked?: number }).hacked), undefined);
  assert.equal(await page.locator("main img, main script").count(), 0);
});

story("8: eight tabs, all alive", {}, async ({ client, server, context }) => {
  await seedPayments(client);
  const pages = await Promise.all(Array.from({ length: 8 }, () => context.newPage()));
  for (const page of pages) {
    await page.goto(`${server.url}/console/queues`);
    await page.getByText("payments-dlq").first().waitFor();
  }
  const url = await client.queue("late");
  await client.send(url, [{ body: "x" }]);
  for (const page of pages) {
    await page.bringToFront();
    await page.getByRole("link", { name: "late" }).waitFor({ timeout: 15_000 });
  }
});

const kViews = [
  "/console/dead-letters",
  "/console/queues",
  "/console/queues/payments-dlq",
  "/console/queues/payments-dlq/messages?filter=%24.currency%20%3D%3D%20%22CHF%22",
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

story("11: deep links, reload, back and forward on every route", {}, async ({ client, page, goto }) => {
  await seedShop(client, true);
  await client.queue("odd_name-1.fifo", { FifoQueue: "true" });
  const heading = async (): Promise<string> =>
    ((await page.locator("h1").first().innerText()).split("\n")[0] ?? "").trim();
  const headings: string[] = [];
  for (const view of kViews) {
    await goto(view);
    await page.locator("h1").first().waitFor();
    headings.push(await heading());
    await page.reload();
    await page.locator("h1").first().waitFor();
    assert.equal(await heading(), headings.at(-1), view);
  }
  await goto("/console/queues");
  await page.getByRole("link", { name: "odd_name-1.fifo" }).click();
  await page.waitForURL(/odd_name-1\.fifo$/);
  await page.getByRole("link", { name: "Messages", exact: true }).click();
  await page.waitForURL(/messages$/);
  await page.goBack();
  await page.waitForURL(/odd_name-1\.fifo$/);
  await page.goBack();
  await page.waitForURL(/\/console\/queues$/);
  await page.goForward();
  await page.waitForURL(/odd_name-1\.fifo$/);
  await goto("/");
  await page.waitForURL(/\/console\/dead-letters$/);
});

story(
  "14: live and copy work on plain HTTP beyond loopback",
  { flags: ["--virtual-clock", "--insecure"], address: "127.0.0.2" },
  async ({ client, page, goto }) => {
    await page.addInitScript(() => {
      // What a browser leaves out on origins that are not secure.
      for (const name of ["clipboard", "locks"])
        Object.defineProperty(Navigator.prototype, name, { get: () => undefined });
      Reflect.deleteProperty(globalThis, "BroadcastChannel");
      Object.defineProperty(globalThis.crypto, "subtle", { get: () => undefined });
    });
    await seedPayments(client);
    await goto("/console/queues/payments-dlq/messages");
    await page.getByRole("button", { name: "Copy the message id" }).first().click();
    await page.getByText("Copied").waitFor();
    await client.queue("late");
    await goto("/console/queues");
    await page.getByRole("link", { name: "late" }).waitFor();
  },
);
