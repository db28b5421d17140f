// Loads the panel for patches with the editor.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Selection } from "../../model/selection";
import { Skeleton } from "../../ui/parts";

export interface PatchProps {
  selection: Selection;
  count: number;
  sample: number; // Key of the message that the patch is made on.
}

export function LazyPatch(props: PatchProps): JSX.Element {
  const [component, setComponent] = useState<{ view: (props: PatchProps) => JSX.Element } | undefined>(undefined);
  useEffect(() => {
    void import("./patch_panel").then((module) => setComponent({ view: module.PatchPanel }));
  }, []);
  if (!component) return <Skeleton />;
  const View = component.view;
  return <View {...props} />;
}
