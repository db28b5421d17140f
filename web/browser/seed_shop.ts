// A shop on a bad night: orders without store_id, a payment service that times out, and what is around them.

import type { Client, Failure, Outgoing } from "./client";

export const kBadConsumer = `import json

def handler(event, context):
    for record in event["Records"]:
        order = json.loads(record["body"])
        store = record["messageAttributes"]["store_id"]["stringValue"]
        print(f"order {order['order']} of store {store}")
    return {}
`;

export const kGoodConsumer = `import json

def handler(event, context):
    for record in event["Records"]:
        order = json.loads(record["body"])
        store = record["messageAttributes"].get("store_id", {}).get("stringValue", "unknown")
        print(f"order {order['order']} of store {store}")
    return {}
`;

const kTimeoutStack = `Traceback (most recent call last):
  File "/usr/lib/python3.11/site-packages/urllib3/connectionpool.py", line 536, in _make_request
    response = conn.getresponse()
  File "/app/payments/charge.py", line 42, in charge
    answer = gateway.post("/charges", json=charge, timeout=3)
  File "/app/payments/worker.py", line 18, in work
    charge(order)
TimeoutError: gateway.example did not answer within 3 s`;

const kDecimalStack = `Traceback (most recent call last):
  File "/app/payments/charge.py", line 31, in amount_of
    return Decimal(order["amount"])
  File "/app/payments/worker.py", line 18, in work
    charge(order)
decimal.InvalidOperation: [<class 'decimal.ConversionSyntax'>]`;

const kTimeout: Failure = {
  errorType: "TimeoutError",
  errorMessage: "gateway.example did not answer within 3 s",
  stackTrace: kTimeoutStack,
};
const kDecimal: Failure = {
  errorType: "decimal.InvalidOperation",
  errorMessage: "[<class 'decimal.ConversionSyntax'>]",
  stackTrace: kDecimalStack,
};

function order(i: number): Record<string, unknown> {
  const total = [18.5, 7, 120, 42.25, 9.9][(i * 7) % 5];
  return { order: 1000 + i, total, customer: `c-${100 + (i % 17)}`, token: `tok_live_${i}4242` };
}

// Waits until the function has had everything that is visible; time has to be moved between attempts.
async function settled(client: Client): Promise<void> {
  await client.until(
    () => client.manage("GET", "overview"),
    (o) => o.queues.find((q: { name: string }) => q.name === "orders")?.visible === 0,
  );
}

// Orders through a function: of every four, one lacks store_id. With a virtual clock `advance` moves it past the
// visibility timeout, so that the bad ones die at once.
export async function seedOrders(
  client: Client,
  options: { good?: number; bad?: number; virtual?: boolean } = {},
): Promise<void> {
  const { good = 75, bad = 25, virtual = false } = options;
  const url = await client.pair("orders", { receives: 2, attributes: { VisibilityTimeout: virtual ? "30" : "5" } });
  await client.function("consumer", kBadConsumer, { Timeout: virtual ? 10 : 5 });
  await client.mapping("orders", "consumer", { BatchSize: 1 });
  const every = Math.round((good + bad) / bad);
  const messages: Outgoing[] = Array.from({ length: good + bad }, (_, i) => ({
    body: order(i),
    attributes: { channel: "web", ...(i % every === 3 % every ? {} : { store_id: 1 + (i % 5) }) } as Record<
      string,
      string | number
    >,
  }));
  await client.send(url, messages);
  await client.until(
    async () => {
      if (virtual) await client.advance(5);
      return client.manage("GET", "queues/orders-dlq/groups");
    },
    (g) => g.groups.reduce((n: number, x: { count: number }) => n + x.count, 0) === bad && g.ungrouped === 0,
  );
  await settled(client);
}

// Payments through a worker that reports its failures.
export async function seedPayments(client: Client): Promise<void> {
  const url = await client.pair("payments", { receives: 3 });
  const messages: Outgoing[] = Array.from({ length: 120 }, (_, i) => {
    const amount = i % 11 === 0 ? '"12,50"' : String(12.5 + i);
    const currency = i % 3 === 0 ? "CHF" : "EUR";
    return {
      body: `{"payment":${9000 + i},"amount":${amount},"currency":"${currency}","order":{"id":12345678901234567890}}`,
      attributes: { region: i % 2 ? "eu" : "us" },
    };
  });
  await client.send(url, messages);
  await client.work(url, (message) => {
    if (/"amount":"/.test(message.Body)) return kDecimal;
    return /"currency":"CHF"/.test(message.Body) ? kTimeout : undefined;
  });
}

export async function seedRest(client: Client): Promise<void> {
  await client.pair("invoices.fifo", { dead: "invoices-dlq.fifo" });
  const mail = await client.pair("mail");
  await client.queue("audit-trail");
  const thumbnails = await client.queue("thumbnails");
  await client.send(
    mail,
    Array.from({ length: 14 }, (_, i) => ({
      body: { to: `someone-${i}`, template: "welcome" },
      delay: i < 4 ? 600 : 0,
    })),
  );
  await client.send(
    thumbnails,
    Array.from({ length: 40 }, (_, i) => ({ body: `s3://pictures/${i}.jpg` })),
  );
  await client.request("PUT", "/graveyard", undefined, { "x-amz-content-sha256": "UNSIGNED-PAYLOAD" });
}

export async function seedShop(client: Client, virtual = false): Promise<void> {
  await seedOrders(client, { virtual });
  await seedPayments(client);
  await seedRest(client);
}
