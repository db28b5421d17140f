// Everything else but the editor: charts, functions, map, alarms, archive and the like.

export { AlarmPage } from "./alarms/alarm";
export { Alarms } from "./alarms/alarms";
export { Archive, Archives } from "./archive/archive";
export { Audit } from "./audit/audit";
export { Bin } from "./bin/bin";
export { Doctor } from "./doctor/doctor";
export { Find } from "./find/find";
export { FunctionPage } from "./functions/function";
export { Functions } from "./functions/functions";
export { Log } from "./log/log";
export { MapView } from "./map/map";
export { Queue } from "./queue/queue";
export { Settings } from "./settings/settings";
