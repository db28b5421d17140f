// Loads the editor when it is needed: CodeMirror is larger than the rest of the console.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Skeleton } from "../../ui/parts";
import type { EditProps } from "./edit_types";

type Component = (props: EditProps) => JSX.Element;

export function LazyEditor(props: EditProps): JSX.Element {
  const [component, setComponent] = useState<{ view: Component } | undefined>(undefined);
  useEffect(() => {
    void import("./edit").then((module) => setComponent({ view: module.Edit }));
  }, []);
  if (!component) return <Skeleton rows={8} />;
  const View = component.view;
  return <View {...props} />;
}
