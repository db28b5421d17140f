// Keys that work everywhere, and the list of all keys.

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { links, parentOf } from "../../model/routes";
import { allActions, isTyping, pressKey, useActions } from "../../state/actions";
import { singleKeys, turnTimes } from "../../state/prefs";
import { navigate, route } from "../../state/router";
import { livePaused, pauseLive } from "../../state/store";
import { Dialog } from "../../ui/overlay";
import { openPalette, paletteText } from "../palette/palette_state";
import { closePanel, panel } from "../redrive/redrive_state";

const listing = signal(false);

const kGlobal = [
  { id: "go d", label: "Go to dead letters", key: "g d", run: () => navigate(links.inbox()) },
  { id: "go q", label: "Go to queues", key: "g q", run: () => navigate(links.queues()) },
  { id: "go j", label: "Go to jobs", key: "g j", run: () => navigate(links.jobs()) },
  { id: "go f", label: "Go to functions", key: "g f", run: () => navigate(links.functions()) },
  { id: "go m", label: "Go to the map", key: "g m", run: () => navigate(links.map()) },
  { id: "go a", label: "Go to alarms", key: "g a", run: () => navigate(links.alarms()) },
  { id: "find", label: "Find or do anything", key: "/", run: () => openPalette("") },
  { id: "times", label: "Times: relative, local, UTC", key: "u", run: turnTimes },
  { id: "pause", label: "Pause or resume live data", key: "p", run: () => pauseLive(!livePaused.value) },
  { id: "keys", label: "List keys", key: "?", run: () => (listing.value = true) },
];

function goUp(): void {
  if (panel.value) {
    closePanel();
    return;
  }
  const up = parentOf(route.value);
  if (up) navigate(up);
}

export function Keys(): JSX.Element | null {
  useActions(kGlobal);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || paletteText.value !== undefined) return;
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        openPalette("");
        return;
      }
      if (event.key === "Escape" && !isTyping(event.target)) {
        goUp();
        return;
      }
      if (pressKey(event)) event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
  if (!listing.value) return null;
  const shown = allActions().filter((a) => a.key);
  return (
    <Dialog title="Keys" close={() => (listing.value = false)}>
      <ul class="keys-list">
        {shown.map((a) => (
          <li>
            {a.label}
            <kbd>{a.key}</kbd>
          </li>
        ))}
        <li>
          Move in lists<kbd>↑ ↓</kbd>
        </li>
        <li>
          Open<kbd>↵</kbd>
        </li>
        <li>
          Up one level<kbd>Esc</kbd>
        </li>
        <li>
          Palette<kbd>Ctrl K</kbd>
        </li>
      </ul>
      <label class="choice">
        <input
          type="checkbox"
          role="switch"
          aria-checked={singleKeys.value}
          checked={singleKeys.value}
          onChange={(e) => (singleKeys.value = e.currentTarget.checked)}
        />
        Single-key shortcuts
      </label>
      <div class="bar">
        <button type="button" onClick={() => (listing.value = false)}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
