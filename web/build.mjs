// Builds the console into dist/: content-hashed assets, index.html, and gzip copies of everything. The same sources
// give the same bytes. With --dev the page of all components is there too, and nothing is minified.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const dev = process.argv.includes("--dev");
const dist = here("./dist/");
rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });

const result = await build({
  absWorkingDir: here("."),
  entryPoints: { app: "src/main.tsx", style: "src/styles/index.css" },
  outdir: "dist/assets",
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  target: ["chrome123", "firefox120", "safari17.5"],
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: !dev,
  sourcemap: dev ? "inline" : false,
  legalComments: "none",
  define: { __DEV__: String(dev) },
  metafile: true,
  logLevel: "warning",
});

const outputs = Object.entries(result.metafile.outputs);
const output = (entry) => outputs.find(([, o]) => o.entryPoint === entry)?.[0].replace("dist/", "/console/");
const page = readFileSync(here("./src/index.html"), "utf8")
  .replace("{{script}}", output("src/main.tsx"))
  .replace("{{style}}", output("src/styles/index.css"));
writeFileSync(`${dist}index.html`, page);
writeFileSync(`${dist}icon.svg`, readFileSync(here("./src/icon.svg")));

// gzip -9n: no time stamp, so that equal sources give equal bytes.
const files = ["index.html", "icon.svg", ...readdirSync(`${dist}assets`).map((f) => `assets/${f}`)].sort();
for (const file of files) {
  const packed = gzipSync(readFileSync(dist + file), { level: 9 });
  packed[9] = 255; // The operating system in the header: unknown.
  writeFileSync(`${dist}${file}.gz`, packed);
}
// What the page loads before its first view: the entry points and what they import at once.
const first = new Set();
const follow = (path) => {
  if (first.has(path)) return;
  first.add(path);
  for (const i of result.metafile.outputs[path]?.imports ?? []) if (i.kind === "import-statement") follow(i.path);
};
for (const [path, o] of outputs)
  if (o.entryPoint === "src/main.tsx" || o.entryPoint === "src/styles/index.css") follow(path);
const size = (path) => statSync(here(`./${path}.gz`)).size;
const sum = (paths) => [...paths].reduce((n, p) => n + size(p), 0);
const all = sum(outputs.map(([p]) => p));
writeFileSync(`${dist}sizes.json`, JSON.stringify({ first: sum(first), all }, null, 1));
console.log(`console: ${(sum(first) / 1000).toFixed(1)} kB first, ${(all / 1000).toFixed(1)} kB in all (gzip)`);
