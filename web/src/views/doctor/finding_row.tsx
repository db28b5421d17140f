// A trap that a queue stands in, why it hurts, and the command that ends it.

import type { JSX } from "preact";
import type { Finding } from "../../api/additions";
import { links } from "../../model/routes";
import { CommandLine, Others } from "../../ui/parts";
import { StatusBadge } from "../../ui/status";

export function FindingRow({ finding }: { finding: Finding }): JSX.Element {
  return (
    <div class="finding">
      <p class="headline">
        <StatusBadge kind="severity" state={finding.severity} />
        <a href={links.queue(finding.queue)}>
          <Others text={finding.queue} />
        </a>
        <Others text={finding.what} />
      </p>
      <p class="muted">
        <Others text={finding.why} />
      </p>
      {finding.fix && <CommandLine free command={finding.fix} />}
    </div>
  );
}
