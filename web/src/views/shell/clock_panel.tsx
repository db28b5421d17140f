// With a virtual clock: what time it is for the server, and buttons that move it.

import type { JSX } from "preact";
import { advanceClock } from "../../api/manage";
import { clockText, parseTime } from "../../model/time";
import { now, serverSaid } from "../../state/clock";
import { useTask } from "../../state/resource";
import { live } from "../../state/store";
import { Menu } from "../../ui/overlay";
import { ErrorNote } from "../../ui/parts";

const kSteps: readonly [string, number][] = [
  ["+ 30 s", 30],
  ["+ 1 min", 60],
  ["+ 15 min", 900],
  ["+ 1 h", 3600],
  ["+ 1 d", 86_400],
];

export function ClockPanel(): JSX.Element {
  const task = useTask();
  const advance = (seconds: number): Promise<void> =>
    task.run(async () => {
      const clock = await advanceClock(seconds);
      serverSaid(parseTime(clock.now) ?? 0);
      live.again();
    });
  return (
    <Menu
      button={
        <>
          <span class="word">virtual clock</span> {clockText(now.value, true)}Z
        </>
      }
      label="Virtual clock"
      class="chip warn"
    >
      <div class="title">Time stands still until it is moved.</div>
      {kSteps.map(([text, seconds]) => (
        <button type="button" disabled={task.running} onClick={() => void advance(seconds)}>
          {text}
        </button>
      ))}
      {task.error && <ErrorNote error={task.error} />}
    </Menu>
  );
}
