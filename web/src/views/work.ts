// Views that are one step from the first: loaded together once the first is there.

export { Group } from "./group/group";
export { JobPage, Jobs } from "./jobs/jobs";
export { Lineage } from "./message/lineage";
export { MessagePage } from "./message/message";
export { Messages } from "./messages/messages";
export { OpenPalette } from "./palette/palette";
export { Panels } from "./redrive/panels";
