// Bundles and runs browser/screenshots.run.ts.
import { spawnSync } from "node:child_process";
import { bundle } from "./bundle.mjs";

const [file] = await bundle("browser", ".run.ts", ".screenshots");
process.exit(spawnSync(process.execPath, ["--enable-source-maps", file], { stdio: "inherit" }).status ?? 1);
