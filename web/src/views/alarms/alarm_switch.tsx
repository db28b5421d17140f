import type { JSX } from "preact";
import type { AlarmRow } from "../../api/additions";
import { switchAlarm } from "../../api/manage";
import { useTask } from "../../state/resource";
import { mayOperate } from "../../state/session";
import { live } from "../../state/store";
import { ErrorNote, Switch, TimeText } from "../../ui/parts";

// Whether an alarm notifies anybody. Only those of dead-letter queues can be switched.
export function AlarmSwitch({ alarm }: { alarm: AlarmRow }): JSX.Element {
  const task = useTask();
  const can = mayOperate.value && alarm.kind === "dead-letters" && alarm.queue !== undefined;
  if (alarm.snoozedUntil) {
    return (
      <span class="muted">
        quiet until <TimeText at={alarm.snoozedUntil} />
      </span>
    );
  }
  if (!can) return <span class="muted">{alarm.on ? "on" : "off"}</span>;
  const change = (on: boolean): Promise<void> =>
    task.run(async () => {
      await switchAlarm(alarm.queue ?? "", on);
      live.again();
    });
  return (
    <>
      <Switch label={alarm.on ? "on" : "off"} on={alarm.on} disabled={task.running} change={(on) => void change(on)} />
      {task.error && <ErrorNote error={task.error} />}
    </>
  );
}
