// The frame around every view: top bar, rail, and what is said about contact and session.

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { signOut } from "../../api/additions";
import { countText } from "../../model/format";
import { links, type ViewName } from "../../model/routes";
import { clockText } from "../../model/time";
import { now, virtualClock } from "../../state/clock";
import { contact } from "../../state/contact";
import { spoken } from "../../state/notices";
import { singleKeys, type Theme, theme, timeStyle } from "../../state/prefs";
import { route } from "../../state/router";
import { isReader, loadSession, newVersion, session } from "../../state/session";
import {
  alarms,
  deadLetterCount,
  handlers,
  live,
  livePaused,
  loaded,
  newGroupCount,
  queues,
  ringingAlarms,
  runningJobs,
} from "../../state/store";
import type { IconName } from "../../ui/icons";
import { Menu } from "../../ui/overlay";
import { Icon } from "../../ui/parts";
import { openPalette } from "../palette/palette_state";
import { ClockPanel } from "./clock_panel";

interface RailItem {
  icon: IconName;
  text: string;
  href: string;
  views: readonly ViewName[];
  count?: () => ComponentChildren;
  dead?: () => boolean;
}

const kWork: readonly RailItem[] = [
  {
    icon: "inbox",
    text: "Dead letters",
    href: links.inbox(),
    views: ["inbox", "group"],
    count: () =>
      newGroupCount.value > 0 ? (
        <>
          {countText(newGroupCount.value)}
          <span class="more"> new</span>
        </>
      ) : (
        countText(deadLetterCount.value)
      ),
    dead: () => newGroupCount.value > 0,
  },
  {
    icon: "layers",
    text: "Queues",
    href: links.queues(),
    views: ["queues", "queue", "messages", "message", "settings", "bin", "lineage"],
    count: () => countText(queues.value.size),
  },
  {
    icon: "list-checks",
    text: "Jobs",
    href: links.jobs(),
    views: ["jobs", "job"],
    count: () => (runningJobs.value.length > 0 ? countText(runningJobs.value.length) : ""),
  },
  {
    icon: "zap",
    text: "Functions",
    href: links.functions(),
    views: ["functions", "function"],
    count: () => countText(new Set(handlers.value.map((h) => h.function)).size),
  },
  { icon: "workflow", text: "Map", href: links.map(), views: ["map"] },
];

const kUpkeep: readonly RailItem[] = [
  {
    icon: "bell",
    text: "Alarms",
    href: links.alarms(),
    views: ["alarms", "alarm"],
    count: () => countText(ringingAlarms.value > 0 ? ringingAlarms.value : alarms.value.size),
    dead: () => ringingAlarms.value > 0,
  },
  { icon: "archive", text: "Archive", href: links.archives(), views: ["archives", "archive"] },
  { icon: "stethoscope", text: "Doctor", href: links.doctor(), views: ["doctor"] },
  { icon: "scroll-text", text: "Audit", href: links.audit(), views: ["audit"] },
  { icon: "terminal", text: "Log", href: links.log(), views: ["log"] },
];

function RailLink({ item, close }: { item: RailItem; close: () => void }): JSX.Element {
  const current = item.views.includes(route.value.view);
  return (
    <a href={item.href} aria-current={current ? "page" : undefined} title={item.text} onClick={close}>
      <Icon name={item.icon} />
      <span class="word">{item.text}</span>
      {item.count && loaded.value && <span class={item.dead?.() ? "n dead" : "n"}>{item.count()}</span>}
    </a>
  );
}

function UserMenu(): JSX.Element {
  const view = session.value;
  const name = view?.name || "no keys";
  const themes: Theme[] = ["system", "light", "dark"];
  const leave = async (): Promise<void> => {
    await signOut();
    session.value = undefined;
    await loadSession();
  };
  return (
    <Menu button={`${name}${view?.keys ? ` · ${view.role}` : ""}`} label="Settings" class="who">
      <div class="title">Theme</div>
      {themes.map((t) => (
        <label>
          {t}
          <input type="radio" name="theme" checked={theme.value === t} onChange={() => (theme.value = t)} />
        </label>
      ))}
      <hr />
      <div class="title">Times</div>
      {(["relative", "local", "utc"] as const).map((t) => (
        <label>
          {t === "utc" ? "UTC" : t}
          <input type="radio" name="times" checked={timeStyle.value === t} onChange={() => (timeStyle.value = t)} />
        </label>
      ))}
      <hr />
      <label>
        Single-key shortcuts
        <input
          type="checkbox"
          checked={singleKeys.value}
          onChange={(e) => (singleKeys.value = e.currentTarget.checked)}
        />
      </label>
      {view?.version && <div class="title">Redrive {view.version}</div>}
      {view?.keys && (
        <button type="button" data-closes onClick={() => void leave()}>
          Sign out
        </button>
      )}
    </Menu>
  );
}

function LiveDot(): JSX.Element {
  if (contact.value.lostAt !== undefined)
    return (
      <span class="live-dot lost">
        ○ <span class="word">no contact</span>
      </span>
    );
  if (livePaused.value)
    return (
      <span class="live-dot off">
        ‖ <span class="word">paused</span>
      </span>
    );
  if (!loaded.value)
    return (
      <span class="live-dot off">
        ○ <span class="word">connecting</span>
      </span>
    );
  return (
    <span class="live-dot">
      ● <span class="word">live</span>
    </span>
  );
}

function ContactBar(): JSX.Element | null {
  const { lostAt, retryAt, back } = contact.value;
  if (newVersion.value) {
    return (
      <div class="contact-bar good">
        The server has a new version.
        <button type="button" class="small" onClick={() => location.reload()}>
          Reload for {newVersion.value}
        </button>
      </div>
    );
  }
  if (back) return <div class="contact-bar good">{back}</div>;
  if (lostAt === undefined || now.value < 0) return null;
  if (Date.now() - lostAt < 3000) return null;
  const seconds = Math.max(Math.ceil((retryAt - performance.now()) / 1000), 0);
  return (
    <div class="contact-bar" role="alert">
      <span>
        No contact since {clockText(lostAt, false)}, trying again {seconds > 0 ? `in ${seconds} s` : "now"}. Jobs go on
        in the server.
      </span>
      <button type="button" class="small" onClick={() => live.again(true)}>
        Now
      </button>
    </div>
  );
}

function Top({ toggleRail }: { toggleRail: () => void }): JSX.Element {
  const view = session.value;
  const place = view?.region;
  const mac = /Mac|iPhone|iPad/.test(navigator.platform);
  return (
    <header class="top">
      <button type="button" class="icon menu-button" aria-label="Menu" onClick={toggleRail}>
        <Icon name="menu" />
      </button>
      <a class="brand" href={links.home()}>
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d="M4 12a8 8 0 1 1 2.6 5.9M4 20v-5h5" />
        </svg>
        Redrive
      </a>
      {place && <span class="chip place">{place}</span>}
      {virtualClock.value && <ClockPanel />}
      {view?.memory && (
        <span class="chip warn" title="Nothing is kept: messages are gone with the process">
          in memory
        </span>
      )}
      {isReader.value && <span class="chip">reader: looking only</span>}
      <button type="button" class="find" onClick={() => openPalette("")}>
        <Icon name="search" />
        <span class="word">Find or do anything</span>
        <kbd>{mac ? "⌘K" : "Ctrl K"}</kbd>
      </button>
      <LiveDot />
      <UserMenu />
    </header>
  );
}

export function Shell({ children }: { children: ComponentChildren }): JSX.Element {
  const [open, setOpen] = useState(false);
  const offline = contact.value.lostAt !== undefined;
  return (
    <div class={offline ? "shell app-offline" : "shell"}>
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        To the contents
      </button>
      <Top toggleRail={() => setOpen((o) => !o)} />
      <ContactBar />
      <nav class={open ? "rail open" : "rail"} aria-label="Main">
        {kWork.map((item) => (
          <RailLink item={item} close={() => setOpen(false)} />
        ))}
        <h2>Upkeep</h2>
        {kUpkeep.map((item) => (
          <RailLink item={item} close={() => setOpen(false)} />
        ))}
      </nav>
      <main class="main" id="main" tabIndex={-1}>
        {children}
      </main>
      <div class="offscreen" role="status" aria-live="polite">
        {spoken.value}
      </div>
    </div>
  );
}
