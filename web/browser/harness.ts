// A real server and a real browser for each story. A story fails on any error in the browser's console, any report
// of the content security policy, and any request to another origin.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { Client, type Key } from "./client";

const kBinary = resolve(process.env.REDRIVE ?? "../build/release/redrive");
const kChromium = process.env.CHROMIUM ?? "/usr/bin/chromium";

// Requests for operations that a server may lack; the console then does without (src/api/fallbacks.ts).
const kMayBeMissing =
  /\/_redrive\/v1\/(topology|doctor|patterns\/test|jobs\/[^/]+\/messages|queues\/[^/]+\/(fields|export|messages\/\d+\/try)|functions\/[^/]+\/invocations|archives\/)/;

export class Server {
  private process: ChildProcess | undefined;
  port = 0;
  readonly directory = mkdtempSync(join(tmpdir(), "redrive-story-"));

  constructor(
    private readonly flags: string[],
    private readonly address = "127.0.0.1",
    private readonly keys: Key[] = [],
  ) {
    if (keys.length > 0) this.useKeys(keys);
  }

  // The keys that the server reads at its start and on SIGHUP.
  useKeys(keys: Key[]): void {
    const text = keys.map((k) => `[[key]]\nid = "${k.id}"\nsecret = "${k.secret}"\nrole = "${k.role}"\n`).join("\n");
    writeFileSync(this.config, text, { mode: 0o600 });
  }

  reload(): void {
    this.process?.kill("SIGHUP");
  }

  private get config(): string {
    return join(this.directory, "redrive.toml");
  }

  get url(): string {
    return `http://${this.address}:${this.port}`;
  }

  get client(): Client {
    return new Client(this.url, this.keys[0]);
  }

  // Starts on a free port, after a kill on the same one.
  async start(): Promise<void> {
    const listen = `${this.address}:${this.port}`;
    const arguments_ = [
      "serve",
      "--listen",
      listen,
      "--data",
      join(this.directory, "data"),
      "--log-format",
      "text",
      ...(this.keys.length > 0 ? ["--config", this.config] : []),
      ...this.flags,
    ];
    const child = spawn(kBinary, arguments_, { cwd: this.directory, stdio: ["ignore", "pipe", "pipe"] });
    this.process = child;
    let said = "";
    await new Promise<void>((resolve, reject) => {
      const hear = (chunk: Buffer): void => {
        said += chunk.toString();
        const found = /http:\/\/[^\s:]+:(\d+)/.exec(said);
        if (!found) return;
        this.port = Number(found[1]);
        resolve();
      };
      child.stdout?.on("data", hear);
      child.stderr?.on("data", hear);
      child.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
    });
    child.removeAllListeners("exit");
  }

  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const child = this.process;
    if (!child || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await gone;
  }

  async remove(): Promise<void> {
    await this.end("SIGKILL");
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export interface Story {
  server: Server;
  client: Client;
  page: Page;
  context: BrowserContext;
  newPage: (options?: BrowserContextOptions) => Promise<Page>;
  goto: (path: string) => Promise<void>;
  allow: (pattern: RegExp) => void; // Console errors that belong to the story.
}

export interface StoryOptions {
  flags?: string[];
  address?: string;
  keys?: Key[]; // The first is that of story.client.
  context?: BrowserContextOptions;
}

let browser: Browser | undefined;

export async function theBrowser(): Promise<Browser> {
  browser ??= await chromium.launch({
    executablePath: kChromium,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--no-first-run",
    ],
  });
  return browser;
}

export async function closeBrowser(): Promise<void> {
  await browser?.close();
  browser = undefined;
}

function watch(page: Page, origin: string, complaints: string[], allowed: RegExp[]): void {
  page.on("console", (message) => {
    if (message.type() !== "error" && !/Content Security Policy|Trusted/.test(message.text())) return;
    const text = `${message.text()} ${message.location().url}`;
    const missing = /status of 404/.test(text) && kMayBeMissing.test(message.location().url);
    if (!missing && !allowed.some((p) => p.test(text))) complaints.push(text);
  });
  page.on("pageerror", (error) => complaints.push(`${error.message}\n${error.stack}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(origin) && !/^(blob|data):/.test(request.url()))
      complaints.push(`foreign request ${request.url()}`);
  });
}

let registered = false;

export function story(name: string, options: StoryOptions, tell: (story: Story) => Promise<void>): void {
  if (!registered) test.after(closeBrowser);
  registered = true;
  test(name, { timeout: 240_000 }, async () => {
    assert.ok(existsSync(kBinary), `${kBinary} is not built`);
    const server = new Server(options.flags ?? ["--virtual-clock"], options.address, options.keys);
    const contexts: BrowserContext[] = [];
    const complaints: string[] = [];
    const allowed: RegExp[] = [];
    try {
      await server.start();
      const newPage = async (more: BrowserContextOptions = {}): Promise<Page> => {
        const context = await (await theBrowser()).newContext({
          viewport: { width: 1280, height: 800 },
          locale: "en-US",
          ...options.context,
          ...more,
        });
        contexts.push(context);
        const page = await context.newPage();
        watch(page, server.url, complaints, allowed);
        return page;
      };
      const page = await newPage();
      const [context] = contexts;
      assert.ok(context);
      context.on("page", (other) => watch(other, server.url, complaints, allowed));
      await tell({
        server,
        client: server.client,
        page,
        context,
        newPage,
        goto: async (path) => void (await page.goto(server.url + path)),
        allow: (pattern) => void allowed.push(pattern),
      });
      assert.deepEqual(complaints, []);
    } finally {
      for (const context of contexts) await context.close();
      await server.remove();
    }
  });
}
