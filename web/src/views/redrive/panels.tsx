// The drawer that is open, if any.

import type { JSX } from "preact";
import { LazyPatch } from "../edit/lazy_patch";
import { DiscardPanel } from "./discard_panel";
import { JobPanel } from "./job_panel";
import { RedrivePanel } from "./redrive_panel";
import { panel } from "./redrive_state";
import { TryPanel } from "./try_panel";

export function Panels(): JSX.Element | null {
  const open = panel.value;
  switch (open?.kind) {
    case "redrive":
      return (
        <RedrivePanel
          key={JSON.stringify(open.selection)}
          selection={open.selection}
          count={open.count}
          messageIds={open.messageIds}
          reason={open.reason}
          patch={open.patch}
        />
      );
    case "job":
      return <JobPanel key={open.job} id={open.job} />;
    case "try":
      return <TryPanel key={open.key} queue={open.queue} messageKey={open.key} messageId={open.messageId} />;
    case "discard":
      return <DiscardPanel selection={open.selection} count={open.count} messageIds={open.messageIds} />;
    case "patch":
      return <LazyPatch selection={open.selection} count={open.count} sample={open.sample} />;
    default:
      return null;
  }
}
