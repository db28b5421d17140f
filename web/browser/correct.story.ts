// The data is at fault: edit one, patch the rest. Discard and take back. A message that moved meanwhile.

import assert from "node:assert/strict";
import { story } from "./harness";
import { seedPayments } from "./seed_shop";

story("3: edit one with its difference, patch the rest, one does not fit", {}, async ({ client, page, goto }) => {
  await seedPayments(client);
  const { groups } = await client.manage("GET", "queues/payments-dlq/groups");
  const group = groups.find((g: { title: string }) => /Decimal|decimal/.test(g.title));
  const { messages } = await client.manage(
    "GET",
    `queues/payments-dlq/messages?limit=100&filter=${encodeURIComponent(`group == "${group.id}"`)}`,
  );
  const first = messages[0];
  await goto(`/console/queues/payments-dlq/messages/${first.key}?edit=1`);
  const editor = page.locator(".editor-host .cm-content");
  await editor.waitFor();
  await editor.fill(first.body.replace('"12,50"', "12.50"));
  await page.getByText("1 field changed").first().waitFor();
  await page.locator(".editor-host .removed-line").waitFor();
  await page.locator(".editor-host .added-line").waitFor();
  await page.getByLabel("Reason").fill("a comma");
  await page.getByRole("button", { name: /Save & redrive/ }).click();
  await page.waitForURL(/\/console\/lineage\//);
  const lineage = await client.manage("GET", `lineage/${first.lineageId}`);
  const inQueue = lineage.places.find((p: { state: string }) => p.state === "in-queue");
  assert.match(inQueue.queue, /:payments$/);
  const now = await client.manage("GET", `queues/payments/messages/${inQueue.key}`);
  assert.equal(now.body, first.body.replace('"12,50"', "12.50"));
  assert.match(now.body, /12345678901234567890/);

  // One of the rest is no JSON any more, so the patch cannot fit it.
  await client.manage("POST", `queues/payments-dlq/messages/${messages[1].key}/edit`, { body: "not JSON" });
  await goto(`/console/queues/payments-dlq/groups/${group.id}`);
  await page.getByRole("button", { name: "Patch all…" }).click();
  const sample = page.locator(".drawer .editor-host .cm-content");
  await sample.waitFor();
  const text = (await sample.innerText()).replace(/\u00a0/g, " ");
  await sample.fill(text.replace('"12,50"', "12.5"));
  await page.getByText(/fits 9, does not fit 1/).waitFor();
  await page.getByRole("button", { name: "Go on with 9…" }).click();
  await page.getByText("Patch and redrive").waitFor();
  await page.getByLabel("All at once").check();
  await page.getByRole("button", { name: "Redrive 9" }).click();
  await client.until(
    async () => {
      await client.advance(1);
      return client.manage("GET", "jobs");
    },
    ({ jobs }) => jobs[0]?.moved === 9,
  );
  const left = await client.manage("GET", `queues/payments-dlq/groups/${group.id}`);
  assert.equal(left.count, 1);
});

story("discard and undo; the bin takes back", {}, async ({ client, page, goto }) => {
  await seedPayments(client);
  await goto("/console/queues/payments-dlq/messages");
  await page.getByRole("row").nth(1).waitFor();
  await page.getByLabel("Select everything that matches").check();
  await page.getByRole("button", { name: /^Discard \d+…$/ }).click();
  await page.getByLabel("Reason").fill("test data");
  await page.getByRole("button", { name: /^Discard \d+$/ }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  const total = await client.until(
    () => client.manage("GET", "overview"),
    (o) => o.queues.find((q: { name: string }) => q.name === "payments-dlq").visible > 0,
  );
  assert.ok(total);
  await goto("/console/queues/payments-dlq/bin");
  await page.getByText("The bin is empty.").waitFor();
});

story("10: the message moved meanwhile, and the page says where it is", {}, async ({ client, page, goto, allow }) => {
  allow(/status of 404/);
  await seedPayments(client);
  const { messages } = await client.manage("GET", "queues/payments-dlq/messages?limit=1");
  const [message] = messages;
  await goto(`/console/queues/payments-dlq/messages?order=oldest&m=${message.key}`);
  await page.getByRole("region", { name: "Message", exact: true }).waitFor();
  await client.manage("POST", `queues/payments-dlq/messages/${message.key}/edit`, {
    body: message.body,
    redrive: true,
  });
  await page.reload();
  await page
    .getByText(/It is in|Messages/)
    .first()
    .waitFor();
  await goto(`/console/lineage/${message.messageId}`);
  await page
    .getByText(/in payments/)
    .first()
    .waitFor();
});
