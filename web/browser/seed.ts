// npm run seed -- http://127.0.0.1:PORT: fills a server with the shop's bad night.

import { Client } from "./client";
import { seedShop } from "./seed_shop";

await seedShop(new Client(process.argv[2] ?? "http://127.0.0.1:9324"));
