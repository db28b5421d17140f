// Runs the stories in a browser, one file after another: npm run stories [-- NAME…].
import { spawnSync } from "node:child_process";
import { bundle } from "./bundle.mjs";

const names = process.argv.slice(2);
const files = (await bundle("browser", ".story.ts", ".stories")).filter(
  (f) => names.length === 0 || names.some((n) => f.includes(n)),
);
let failed = false;
for (const file of files.sort()) {
  const run = spawnSync(process.execPath, ["--enable-source-maps", "--test", "--test-reporter=spec", file], {
    stdio: "inherit",
  });
  failed ||= run.status !== 0;
}
process.exit(failed ? 1 : 0);
