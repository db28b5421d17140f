// Runs the unit tests with node:test.
import { spawnSync } from "node:child_process";
import { bundle } from "./bundle.mjs";

const files = await bundle("test", ".test.ts", ".test");
const run = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...files], { stdio: "inherit" });
process.exit(run.status ?? 1);
