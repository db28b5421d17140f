// A server without queues: three commands that make one, with a dead letter in it.

import type { JSX } from "preact";
import { CommandLine, EmptyState } from "../../ui/parts";

export function FirstSteps(): JSX.Element {
  const endpoint = location.origin === "http://127.0.0.1:9324" ? "" : ` --endpoint-url ${location.origin}`;
  return (
    <EmptyState headline="No queues yet.">
      <p>Three commands make a queue with a dead-letter queue, and a message that fails:</p>
      <div class="stack first-steps">
        <CommandLine free command={`redrive queue create orders --dlq orders-dlq --max-receives 1${endpoint}`} />
        <CommandLine free command={`redrive send orders '{"order": 1}'${endpoint}`} />
        <CommandLine free command={`redrive consume orders -- false${endpoint}`} />
      </div>
    </EmptyState>
  );
}
