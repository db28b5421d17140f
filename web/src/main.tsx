// Starts the console.

import { render } from "preact";
import { now, startClock } from "./state/clock";
import { copyText } from "./state/notices";
import { timeStyle } from "./state/prefs";
import { startRouter } from "./state/router";
import { loadSession, mustSignIn } from "./state/session";
import { live } from "./state/store";
import { environment } from "./ui/environment";
import { App, addView, loadAhead } from "./views/app";

declare const __DEV__: boolean;

environment.now = now;
environment.timeStyle = timeStyle;
environment.copy = (text) => void copyText(text);

if (__DEV__) addView("parts", () => import("./views/parts/parts").then((m) => m.Parts));

startRouter();
startClock();
const root = document.getElementById("app");
if (root) render(<App />, root);

await loadSession();
let started = false;
mustSignIn.subscribe((must) => {
  if (must || started) return;
  started = true;
  live.start();
  loadAhead();
});
