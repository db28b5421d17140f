// Signing in: with a key, whose secret stays in this page, or with a one-time link.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { signInWithKey, signInWithToken } from "../../api/session";
import { kBase, links } from "../../model/routes";
import { useTask } from "../../state/resource";
import { navigate, route } from "../../state/router";
import { sessionOver, setSession } from "../../state/session";
import { live } from "../../state/store";
import { Dialog } from "../../ui/overlay";
import { ErrorNote, Field } from "../../ui/parts";

function isPlainBeyondLoopback(): boolean {
  return location.protocol === "http:" && !/^(localhost|127\.|\[::1\])/.test(location.hostname);
}

function Form({ done }: { done: () => void }): JSX.Element {
  const [id, setId] = useState("");
  const [secret, setSecret] = useState("");
  const task = useTask();
  const submit = (): Promise<void> =>
    task.run(async () => {
      const given = secret;
      setSecret("");
      setSession(await signInWithKey(id.trim(), given));
      live.again(true);
      done();
    });
  return (
    <form
      class="stack"
      onSubmit={(e) => {
        e.preventDefault();
        void submit();
      }}
    >
      {isPlainBeyondLoopback() && (
        <p class="warning-note">
          ⚠ This page came without TLS: others on the way can read what it shows, and take over your session.
        </p>
      )}
      <Field label="Key id">
        <input
          required
          autocomplete="username"
          spellcheck={false}
          value={id}
          onInput={(e) => setId(e.currentTarget.value)}
        />
      </Field>
      <Field label="Secret" note="It signs one request and is forgotten; it is never sent.">
        <input
          required
          type="password"
          autocomplete="current-password"
          value={secret}
          onInput={(e) => setSecret(e.currentTarget.value)}
        />
      </Field>
      {task.error && <ErrorNote error={task.error} />}
      <div class="bar">
        <button type="submit" class="primary" disabled={task.running}>
          Sign in
        </button>
      </div>
      <p class="muted">
        Or run <code>redrive console</code> where the key is: it opens this page signed in.
      </p>
    </form>
  );
}

// A token in the fragment never reaches the server's log; it is taken from the address at once.
function takeToken(): string | undefined {
  const token = /[#&]token=([^&]+)/.exec(location.hash)?.[1];
  if (token) history.replaceState(history.state, "", location.pathname + location.search);
  return token ? decodeURIComponent(token) : undefined;
}

export function Enter(): JSX.Element {
  const [token] = useState(takeToken);
  const task = useTask();
  const leave = (): void => {
    if (route.value.view === "enter")
      navigate(
        route.value.query.get("to")?.startsWith(`${kBase}/`) ? (route.value.query.get("to") ?? "") : links.home(),
      );
  };
  useEffect(() => {
    if (!token) return;
    void task.run(async () => {
      setSession(await signInWithToken(token));
      live.again(true);
      leave();
    });
  }, []);
  if (sessionOver.value) {
    return (
      <Dialog title="Your session is over" close={() => undefined}>
        <p class="muted">Sign in to go on. What you typed is still there; nothing is sent again by itself.</p>
        <Form done={() => undefined} />
      </Dialog>
    );
  }
  return (
    <main class="enter">
      <section class="section">
        <header>
          <h2>Sign in to Redrive</h2>
        </header>
        <div class="pad stack">
          {task.running && <p class="muted">Signing in with the one-time link…</p>}
          {task.error && <ErrorNote error={task.error} />}
          <Form done={leave} />
        </div>
      </section>
    </main>
  );
}
