// node scripts/dev.mjs SERVER_URL [PORT]: builds on each change and serves the console before a running server, with
// the headers that the server itself sends. For working on the console without compiling the server.

import { spawnSync } from "node:child_process";
import { readFileSync, watch } from "node:fs";
import http from "node:http";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const server = new URL(process.argv[2] ?? "http://127.0.0.1:9324");
const port = Number(process.argv[3] ?? 9325);
const kTypes = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};
const kHeaders = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

const build = () => spawnSync(process.execPath, [here("../build.mjs"), "--dev"], { stdio: "inherit" });
if (!process.argv.includes("--no-build")) {
  build();
  let timer;
  watch(here("../src"), { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(build, 100);
  });
}

function serve(path, response) {
  const file = /^\/console\/(assets\/[\w.-]+|icon\.svg)$/.exec(path)?.[1] ?? "index.html";
  response.writeHead(200, { "content-type": kTypes[extname(file)], ...kHeaders });
  response.end(readFileSync(here(`../dist/${file}`)));
}

http
  .createServer((request, response) => {
    const { pathname } = new URL(request.url, server);
    if (pathname === "/console" || pathname.startsWith("/console/")) return serve(pathname, response);
    const options = {
      host: server.hostname,
      port: server.port,
      method: request.method,
      path: request.url,
      headers: request.headers,
    };
    const onward = http.request(options, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    return request.pipe(onward);
  })
  .listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/console/`));
