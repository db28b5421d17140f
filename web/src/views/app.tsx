// The application: which view belongs to the address, and what lies over it.

import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { links, type ViewName } from "../model/routes";
import { dismiss, toasts } from "../state/notices";
import { asApiError } from "../state/resource";
import { navigate, route, settleScroll } from "../state/router";
import { mustSignIn, sessionOver } from "../state/session";
import { deadLetterCount, loaded } from "../state/store";
import { EmptyState, ErrorNote, Skeleton } from "../ui/parts";
import { Inbox } from "./inbox/inbox";
import { paletteText } from "./palette/palette_state";
import { Queues } from "./queues/queues";
import { closePanel, panel } from "./redrive/redrive_state";
import { Keys } from "./shell/keys";
import { Shell } from "./shell/shell";

type View = ComponentType;

function Home(): JSX.Element | null {
  useEffect(() => {
    if (!loaded.value) return;
    history.replaceState(history.state, "", deadLetterCount.value > 0 ? links.inbox() : links.queues());
    route.value = { view: deadLetterCount.value > 0 ? "inbox" : "queues", params: {}, query: new URLSearchParams() };
  }, [loaded.value]);
  return <Skeleton rows={8} />;
}

function Unknown(): JSX.Element {
  return (
    <EmptyState headline="There is nothing at this address.">
      <button type="button" onClick={() => navigate(links.home())}>
        To the start
      </button>
    </EmptyState>
  );
}

const kViews: Partial<Record<ViewName, View>> = {
  home: Home,
  inbox: Inbox,
  queues: Queues,
  unknown: Unknown,
};

// Loaded when first needed.
const work = (): Promise<typeof import("./work")> => import("./work");
const upkeep = (): Promise<typeof import("./upkeep")> => import("./upkeep");

const kLater: Partial<Record<ViewName, () => Promise<View>>> = {
  group: () => work().then((m) => m.Group),
  messages: () => work().then((m) => m.Messages),
  message: () => work().then((m) => m.MessagePage),
  lineage: () => work().then((m) => m.Lineage),
  jobs: () => work().then((m) => m.Jobs),
  job: () => work().then((m) => m.JobPage),
  queue: () => upkeep().then((m) => m.Queue),
  settings: () => upkeep().then((m) => m.Settings),
  bin: () => upkeep().then((m) => m.Bin),
  functions: () => upkeep().then((m) => m.Functions),
  function: () => upkeep().then((m) => m.FunctionPage),
  map: () => upkeep().then((m) => m.MapView),
  alarms: () => upkeep().then((m) => m.Alarms),
  alarm: () => upkeep().then((m) => m.AlarmPage),
  archives: () => upkeep().then((m) => m.Archives),
  archive: () => upkeep().then((m) => m.Archive),
  doctor: () => upkeep().then((m) => m.Doctor),
  audit: () => upkeep().then((m) => m.Audit),
  log: () => upkeep().then((m) => m.Log),
  find: () => upkeep().then((m) => m.Find),
  enter: () => import("./enter/enter").then((m) => m.Enter),
};

// So that the next click does not wait.
export function loadAhead(): void {
  const later = window.requestIdleCallback ?? ((run: () => void) => setTimeout(run, 500));
  later(() => void work().then(() => later(() => void upkeep())));
}

// Parts that lie over the page, loaded when first opened.
function Later({
  part,
  props,
}: {
  part: "Panels" | "OpenPalette";
  props?: Record<string, unknown>;
}): JSX.Element | null {
  const [found, setFound] = useState<{ view: ComponentType } | undefined>(undefined);
  useEffect(() => {
    void work().then((m) => setFound({ view: m[part] as unknown as ComponentType }));
  }, [part]);
  if (!found) return null;
  const Found = found.view;
  return <Found {...props} />;
}

export function addView(name: ViewName, load: () => Promise<View>): void {
  kLater[name] = load;
}

function LaterView({ name }: { name: ViewName }): JSX.Element {
  const [view, setView] = useState<View | undefined>(() => kViews[name]);
  const [error, setError] = useState<ReturnType<typeof asApiError> | undefined>(undefined);
  const load = (): void => {
    setError(undefined);
    kLater[name]?.().then(
      (found) => {
        kViews[name] = found;
        setView(() => found);
      },
      (caught) => setError(asApiError(caught)),
    );
  };
  useEffect(() => {
    if (!view) load();
  }, [name]);
  if (error) return <ErrorNote error={error} again={load} />;
  if (!view) return <Skeleton rows={8} />;
  const Found = view;
  return <Found />;
}

const kTitles: Partial<Record<ViewName, string>> = {
  inbox: "Dead letters",
  queues: "Queues",
  jobs: "Jobs",
  job: "Job",
  functions: "Functions",
  map: "Map",
  alarms: "Alarms",
  archives: "Archive",
  doctor: "Doctor",
  audit: "Audit",
  log: "Log",
  find: "Find",
  lineage: "Lineage",
  enter: "Sign in",
};

function useTitle(): void {
  const { view, params } = route.value;
  const named = params.queue ?? params.function ?? params.alarm ?? params.bucket;
  useEffect(() => {
    document.title = [kTitles[view], named, "Redrive"].filter((t) => t).join(" · ");
  }, [view, named]);
}

// A new view begins at its top, with the focus on it; back and forward lead to where the reader was.
function useArrival(): void {
  const place = `${route.value.view} ${Object.values(route.value.params).join(" ")}`;
  useEffect(() => {
    closePanel();
    const main = document.getElementById("main");
    if (document.activeElement === document.body) main?.focus({ preventScroll: true });
    settleScroll();
    const timers = [50, 150, 400].map((ms) => setTimeout(settleScroll, ms));
    return () => timers.forEach(clearTimeout);
  }, [place]);
}

function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status">
      {toasts.value.map((t) => (
        <div class="toast" key={t.id}>
          {t.text}
          {t.action && (
            <button
              type="button"
              class="small"
              onClick={() => {
                t.action?.run();
                dismiss(t.id);
              }}
            >
              {t.action.label}
            </button>
          )}
        </div>
      ))}
    </div>
  );
}

export function App(): JSX.Element {
  useTitle();
  useArrival();
  const { view } = route.value;
  if (mustSignIn.value || view === "enter") return <LaterView key="enter" name="enter" />;
  const Known = kViews[view];
  return (
    <>
      <Shell>{Known ? <Known key={view} /> : <LaterView key={view} name={view} />}</Shell>
      {panel.value && <Later part="Panels" />}
      {sessionOver.value && <LaterView key="again" name="enter" />}
      {paletteText.value !== undefined && <Later part="OpenPalette" props={{ start: paletteText.value }} />}
      <Keys />
      <Toasts />
    </>
  );
}
