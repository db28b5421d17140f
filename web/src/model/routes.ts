// Every view is a URL below /console/.

export const kBase = "/console";

export type ViewName =
  | "home"
  | "inbox"
  | "queues"
  | "queue"
  | "messages"
  | "message"
  | "group"
  | "settings"
  | "bin"
  | "lineage"
  | "jobs"
  | "job"
  | "functions"
  | "function"
  | "map"
  | "alarms"
  | "alarm"
  | "archives"
  | "archive"
  | "doctor"
  | "audit"
  | "log"
  | "find"
  | "enter"
  | "parts"
  | "unknown";

export interface Route {
  view: ViewName;
  params: Record<string, string>;
  query: URLSearchParams;
}

const kPatterns: readonly [string, ViewName][] = [
  ["/", "home"],
  ["/dead-letters", "inbox"],
  ["/queues", "queues"],
  ["/queues/:queue", "queue"],
  ["/queues/:queue/messages", "messages"],
  ["/queues/:queue/messages/:key", "message"],
  ["/queues/:queue/groups/:group", "group"],
  ["/queues/:queue/settings", "settings"],
  ["/queues/:queue/bin", "bin"],
  ["/lineage/:id", "lineage"],
  ["/jobs", "jobs"],
  ["/jobs/:job", "job"],
  ["/functions", "functions"],
  ["/functions/:function", "function"],
  ["/map", "map"],
  ["/alarms", "alarms"],
  ["/alarms/:alarm", "alarm"],
  ["/archive", "archives"],
  ["/archive/:bucket", "archive"],
  ["/doctor", "doctor"],
  ["/audit", "audit"],
  ["/log", "log"],
  ["/find", "find"],
  ["/enter", "enter"],
  ["/_parts", "parts"],
];

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function matchPattern(pattern: string, parts: readonly string[]): Record<string, string> | undefined {
  const wanted = pattern.split("/").filter((p) => p !== "");
  if (wanted.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, name] of wanted.entries()) {
    const part = parts[i] ?? "";
    if (name.startsWith(":")) params[name.slice(1)] = decode(part);
    else if (name !== part) return undefined;
  }
  return params;
}

export function parseRoute(path: string, search: string): Route {
  const query = new URLSearchParams(search);
  const below = path.startsWith(kBase) ? path.slice(kBase.length) : path;
  const parts = below.split("/").filter((p) => p !== "");
  for (const [pattern, view] of kPatterns) {
    const params = matchPattern(pattern, parts);
    if (params) return { view, params, query };
  }
  return { view: "unknown", params: {}, query };
}

type Query = Record<string, string | number | boolean | undefined>;

// The address of a view: names are encoded, empty parameters left out.
export function href(parts: readonly (string | number)[], query: Query = {}): string {
  const path = parts.map((p) => encodeURIComponent(String(p))).join("/");
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "" && value !== false) search.set(name, String(value));
  }
  const text = search.toString();
  return `${kBase}/${path}${text ? `?${text}` : ""}`;
}

export const links = {
  home: (): string => `${kBase}/`,
  inbox: (query: Query = {}): string => href(["dead-letters"], query),
  queues: (query: Query = {}): string => href(["queues"], query),
  queue: (queue: string, query: Query = {}): string => href(["queues", queue], query),
  messages: (queue: string, query: Query = {}): string => href(["queues", queue, "messages"], query),
  message: (queue: string, key: number | string): string => href(["queues", queue, "messages", key]),
  group: (queue: string, group: string, query: Query = {}): string => href(["queues", queue, "groups", group], query),
  settings: (queue: string): string => href(["queues", queue, "settings"]),
  bin: (queue: string): string => href(["queues", queue, "bin"]),
  lineage: (id: string): string => href(["lineage", id]),
  jobs: (query: Query = {}): string => href(["jobs"], query),
  job: (job: string): string => href(["jobs", job]),
  functions: (): string => href(["functions"]),
  function: (name: string): string => href(["functions", name]),
  map: (): string => href(["map"]),
  alarms: (): string => href(["alarms"]),
  alarm: (name: string): string => href(["alarms", name]),
  archives: (): string => href(["archive"]),
  archive: (bucket: string, query: Query = {}): string => href(["archive", bucket], query),
  doctor: (): string => href(["doctor"]),
  audit: (query: Query = {}): string => href(["audit"], query),
  log: (): string => href(["log"]),
  find: (q: string): string => href(["find"], { q }),
  enter: (): string => href(["enter"]),
};

// What `Esc` leads to.
export function parentOf(route: Route): string | undefined {
  const { queue = "", group = "" } = route.params;
  switch (route.view) {
    case "group":
      return links.inbox();
    case "message":
      return group ? links.group(queue, group) : links.messages(queue);
    case "messages":
    case "settings":
    case "bin":
      return links.queue(queue);
    case "queue":
      return links.queues();
    case "job":
      return links.jobs();
    case "function":
      return links.functions();
    case "alarm":
      return links.alarms();
    case "archive":
      return links.archives();
    default:
      return undefined;
  }
}
