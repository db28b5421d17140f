// Bundles TypeScript for Node, so that Node 18 can run it. Returns the paths of the programs.
import { readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export async function bundle(folder, ending, out) {
  const target = here(`../${out}/`);
  rmSync(target, { recursive: true, force: true });
  const entryPoints = readdirSync(here(`../${folder}`)).filter((f) => f.endsWith(ending));
  await build({
    entryPoints: entryPoints.map((f) => here(`../${folder}/${f}`)),
    outdir: target,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node18",
    packages: "external",
    jsx: "automatic",
    jsxImportSource: "preact",
    sourcemap: "inline",
    outExtension: { ".js": ".mjs" },
    logLevel: "warning",
  });
  return entryPoints.map((f) => target + f.replace(/\.ts$/, ".mjs"));
}
