// A server with keys: signing in, what a reader sees, and what a session does not allow.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { Key } from "./client";
import { type Story, story } from "./harness";
import { seedOrders } from "./seed_shop";

const kAdmin: Key = { id: "ADMIN", secret: "secret-of-admin", role: "admin" };
const kReader: Key = { id: "READER", secret: "secret-of-reader", role: "reader" };
const keys = [kAdmin, kReader];

async function signIn(page: Page, key: Key): Promise<void> {
  await page.getByLabel("Key id").fill(key.id);
  await page.getByLabel("Secret").fill(key.secret);
  await page.getByRole("button", { name: "Sign in" }).click();
}

async function openGroup({ client, goto }: Story): Promise<string> {
  await seedOrders(client);
  const { groups } = await client.manage("GET", "queues/orders-dlq/groups");
  await goto(`/console/queues/orders-dlq/groups/${groups[0].id}`);
  return groups[0].id;
}

story("9: a reader sees everything and can do nothing", { keys, flags: [] }, async (all) => {
  const { page, allow, server } = all;
  allow(/status of 40[13]/);
  const group = await openGroup(all);
  await signIn(page, kReader);
  await page.getByText("25").first().waitFor();
  await page.getByText("reader: looking only").waitFor();
  assert.equal(await page.getByRole("button", { name: /^Redrive/ }).count(), 0);
  assert.equal(await page.getByRole("button", { name: /^Discard/ }).count(), 0);
  // Requests made by hand with the cookie are refused by the server.
  const refused = await page.evaluate(async (id) => {
    const send = (path: string, body: unknown, headers: Record<string, string>): Promise<number> =>
      fetch(path, { method: "POST", body: JSON.stringify(body), headers }).then((r) => r.status);
    const own = { "x-redrive-console": "1", "content-type": "application/json" };
    const sqs = { ...own, "content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.PurgeQueue" };
    return [
      await send("/_redrive/v1/queues/orders-dlq/jobs", { group: id }, own),
      await send("/_redrive/v1/queues/orders-dlq/discard", { filter: "received > 0" }, own),
      await send("/", { QueueUrl: `${location.origin}/000000000000/orders-dlq` }, sqs),
      await send("/_redrive/v1/session", {}, { "content-type": "application/json" }),
    ];
  }, group);
  assert.deepEqual(refused, [403, 403, 403, 403]);
  assert.equal((await all.client.manage("GET", "queues/orders-dlq/groups")).groups[0].count, 25);
  // Another site can make the browser send the cookie, but not the header.
  const cookies = await page.context().cookies();
  const cookie = cookies.map((c) => `${c.name}=${c.value}`).join("; ");
  const foreign = await fetch(`${server.url}/_redrive/v1/overview`, {
    headers: { cookie, "x-redrive-console": "1", origin: "http://evil.example" },
  });
  assert.equal(foreign.status, 403);
  const bare = await fetch(`${server.url}/_redrive/v1/overview`, { headers: { cookie } });
  assert.equal(bare.status, 403);
  assert.ok(cookies[0]?.httpOnly && cookies[0].sameSite === "Strict");
});

story("9: a session ends with its key and with sign-out", { keys, flags: [] }, async (all) => {
  const { page, allow, server } = all;
  allow(/status of 40[13]/);
  await openGroup(all);
  await signIn(page, kReader);
  await page.getByText("reader: looking only").waitFor();
  server.useKeys([kAdmin]);
  server.reload();
  await page.getByText("Your session is over").waitFor({ timeout: 30_000 });
  await signIn(page, kAdmin);
  await page.getByRole("button", { name: /Redrive 25…/ }).waitFor();
});

story("9: a wrong secret is refused and said plainly", { keys, flags: [] }, async ({ page, goto, allow }) => {
  allow(/status of 4/);
  await goto("/console/");
  await signIn(page, { ...kReader, secret: "wrong" });
  await page.getByText("SignatureDoesNotMatch").waitFor();
});
