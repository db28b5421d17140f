import type { JSX } from "preact";
import type { AlarmTarget } from "../../api/types.gen";
import { Others, TimeText } from "../../ui/parts";

const kLooks: Record<string, string> = {
  delivered: "c-ok",
  "given-up": "c-dead",
  failing: "c-warn",
  unreachable: "c-dead",
};

// Targets of notices, each with what became of the latest.
export function TargetList({ targets }: { targets: readonly AlarmTarget[] }): JSX.Element | null {
  if (targets.length === 0) return null;
  return (
    <table class="plain">
      <tbody>
        {targets.map((t) => (
          <tr>
            <td>
              <span class="mono">
                <Others text={t.target} />
              </span>
              {t.error && (
                <div class="c-dead">
                  <Others text={t.error} />
                </div>
              )}
            </td>
            <td class={kLooks[t.state] ?? "muted"}>
              {t.state}
              {t.status && <span class="muted"> {t.status}</span>}
            </td>
            <td class="muted">
              <TimeText at={t.at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
