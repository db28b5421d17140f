// node embed.mjs OUT: writes what the program embeds of dist/ into OUT: the compressed files, an assembler file that
// includes their bytes, and the table of them in C++. Files are written only when they change.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

const out = process.argv[2];
const dist = fileURLToPath(new URL("./dist/", import.meta.url));
const kTypes = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const names = ["index.html", "icon.svg", ...readdirSync(`${dist}assets`).map((f) => `assets/${f}`)];
const files = names
  .filter((name) => !name.endsWith(".gz"))
  .sort((a, b) => (a < b ? -1 : 1))
  .map((name, i) => {
    const bytes = readFileSync(`${dist}${name}.gz`);
    return { name, bytes, symbol: `redrive_console_${i}`, digest: createHash("sha256").update(bytes).digest("hex") };
  });
if (!files.some((f) => f.name === "index.html") || files.length < 4) throw new Error("web/dist is not complete");

function write(path, contents) {
  if (existsSync(path) && readFileSync(path).equals(Buffer.from(contents))) return;
  writeFileSync(path, contents);
}

mkdirSync(out, { recursive: true });
for (const f of files) write(`${out}/${f.digest.slice(0, 16)}.gz`, f.bytes);
const assembler = files.map(
  (f) => `  .global ${f.symbol}\n${f.symbol}:\n  .incbin "${out}/${f.digest.slice(0, 16)}.gz"\n`,
);
write(
  `${out}/assets.S`,
  `// Made by web/embed.mjs.\n  .section .rodata\n${assembler.join("")}\n  .section .note.GNU-stack,"",%progbits\n`,
);
const rows = files.map(
  (f) =>
    `    {"/console/${f.name}", "${kTypes[extname(f.name)]}", "\\"${f.digest.slice(0, 20)}\\"", ` +
    `{${f.symbol}, ${f.bytes.length}}, ${f.name.startsWith("assets/")}},`,
);
write(
  `${out}/assets_table.cpp`,
  `// Made by web/embed.mjs.
#include <array>

#include "console/assets.h"

extern "C" {
${files.map((f) => `extern const char ${f.symbol}[];`).join("\n")}
}

namespace redrive::console {
namespace {

const std::array kAssets = std::to_array<Asset>({
${rows.join("\n")}
});

}  // namespace

std::span<const Asset> assets() { return kAssets; }

}  // namespace redrive::console
`,
);
