// Today's management API, by the operation ids of docs/openapi.yaml.

import { ApiError, manage, part } from "./client";
import type {
  Alarms,
  AlarmTargets,
  Choice,
  Clock,
  DamagedPage,
  EditRequest,
  FailureGroup,
  FailureGroups,
  FindPage,
  GroupMark,
  GroupRules,
  Job,
  Jobs,
  LineageView,
  Message,
  MessagePage,
  Policy,
  ReadLogAnswer,
  ShowAlarmHistoryAnswer,
  ShowFunctionLogsAnswer,
  ShowMetricHistoryAnswer,
  ShowOverviewAnswer,
  Touched,
} from "./types.gen";

type Signal = AbortSignal | undefined;

export interface PeekQuery {
  limit?: number;
  after?: string | undefined;
  filter?: string | undefined;
  unmasked?: boolean;
}

const query = (q: object): Record<string, string | number | boolean | undefined> => ({ ...q });

export const peekMessages = (queue: string, q: PeekQuery, signal?: Signal): Promise<MessagePage> =>
  manage("GET", `queues/${part(queue)}/messages`, { query: query(q), signal });

export const showMessage = (queue: string, key: number, unmasked = false, signal?: Signal): Promise<Message> =>
  manage("GET", `queues/${part(queue)}/messages/${key}`, { query: unmasked ? { unmasked } : {}, signal });

export type EditBody = EditRequest & { expects?: string };
export const editMessage = (queue: string, key: number, body: EditBody): Promise<Message> =>
  manage("POST", `queues/${part(queue)}/messages/${key}/edit`, { body });

export const noteTried = (queue: string, key: number, body: { code: string; outcome: string }): Promise<Touched> =>
  manage("POST", `queues/${part(queue)}/messages/${key}/tried`, { body });

export const showSpentHandle = (queue: string): Promise<{ receiptHandle: string }> =>
  manage("GET", `queues/${part(queue)}/spent-handle`);

export const showLineage = (id: string, signal?: Signal): Promise<LineageView> =>
  manage("GET", `lineage/${part(id)}`, { signal });

export type ChoiceBody = Choice & { except?: number[] };
// The server has no `except` and ignores what it does not know: it would discard what was left out.
export const discardMessages = async (queue: string, { except, ...body }: ChoiceBody): Promise<Touched> => {
  if (except?.length) {
    throw new ApiError(
      "NotSupported",
      "A discard cannot leave out single messages: pick messages or use a filter.",
      0,
      undefined,
    );
  }
  return manage("POST", `queues/${part(queue)}/discard`, { body });
};

export const peekBin = (queue: string, q: { limit?: number; after?: string | undefined }): Promise<MessagePage> =>
  manage("GET", `queues/${part(queue)}/bin`, { query: query(q) });

export const restoreMessages = (queue: string, body: Choice): Promise<Touched> =>
  manage("POST", `queues/${part(queue)}/restore`, { body });

export const listDamaged = (queue: string): Promise<DamagedPage> => manage("GET", `queues/${part(queue)}/damaged`);

export const purgeQueue = (queue: string, confirm: string): Promise<Touched> =>
  manage("POST", `queues/${part(queue)}/purge`, { body: { confirm } });

export const listGroups = (queue: string): Promise<FailureGroups> => manage("GET", `queues/${part(queue)}/groups`);

export const showGroup = (queue: string, group: string, signal?: Signal): Promise<FailureGroup> =>
  manage("GET", `queues/${part(queue)}/groups/${part(group)}`, { signal });

export const markGroup = (queue: string, group: string, body: GroupMark): Promise<FailureGroup> =>
  manage("POST", `queues/${part(queue)}/groups/${part(group)}`, { body });

export const mergeGroup = (queue: string, group: string, into: string): Promise<GroupRules> =>
  manage("POST", `queues/${part(queue)}/groups/${part(group)}/merge`, { body: { into } });

export const splitGroup = (queue: string, group: string, filter: string, title: string): Promise<GroupRules> =>
  manage("POST", `queues/${part(queue)}/groups/${part(group)}/split`, { body: { filter, title } });

export const findMessages = (q: string, after: string | undefined, signal?: Signal): Promise<FindPage> =>
  manage("GET", "find", { query: { q, after, limit: 100 }, signal });

export const showPolicy = (queue: string): Promise<Policy> => manage("GET", `queues/${part(queue)}/policy`);
export const setPolicy = (queue: string, body: Policy): Promise<Policy> =>
  manage("PUT", `queues/${part(queue)}/policy`, { body });
export const removePolicy = (queue: string): Promise<Policy> => manage("DELETE", `queues/${part(queue)}/policy`);

export const listJobs = (signal?: Signal): Promise<Jobs> => manage("GET", "jobs", { signal });
export const showJob = (job: string, signal?: Signal): Promise<Job> => manage("GET", `jobs/${part(job)}`, { signal });
export const pauseJob = (job: string): Promise<Job> => manage("POST", `jobs/${part(job)}/pause`);
export const resumeJob = (job: string): Promise<Job> => manage("POST", `jobs/${part(job)}/resume`);
export const cancelJob = (job: string): Promise<Job> => manage("POST", `jobs/${part(job)}/cancel`);
export const changeJobRate = (job: string, rate: number): Promise<Job> =>
  manage("POST", `jobs/${part(job)}/rate`, { body: { rate } });

export const showClock = (): Promise<Clock> => manage("GET", "clock");
export const advanceClock = (seconds: number): Promise<Clock> => manage("POST", "clock/advance", { body: { seconds } });

export const readLog = (after: number | undefined, limit = 200): Promise<ReadLogAnswer> =>
  manage("GET", "logs", { query: { after, limit } });

export const showFunctionLogs = (name: string, after = 0): Promise<ShowFunctionLogsAnswer> =>
  manage("GET", `functions/${part(name)}/logs`, { query: { after } });

export const listAlarms = (signal?: Signal): Promise<Alarms> => manage("GET", "alarms", { signal });
export const addAlarm = (body: Record<string, unknown>): Promise<Alarms> => manage("POST", "alarms", { body });
export const removeAlarm = (name: string): Promise<Alarms> => manage("DELETE", `alarms/${part(name)}`);
export const listAlarmTargets = (): Promise<AlarmTargets> => manage("GET", "alarms/targets");
export const testAlarmTargets = (): Promise<AlarmTargets> => manage("POST", "alarms/test");
export const showAlarmHistory = (name: string): Promise<ShowAlarmHistoryAnswer> =>
  manage("GET", `alarms/${part(name)}/history`);
export const switchAlarm = (queue: string, on: boolean): Promise<Alarms> =>
  manage("PUT", `queues/${part(queue)}/alarm`, { body: { on } });

export const showOverview = (limit = 1000, signal?: Signal): Promise<ShowOverviewAnswer> =>
  manage("GET", "overview", { query: { limit }, signal });

export interface MetricQuery {
  queue?: string;
  function?: string;
  mapping?: string;
  metric: string;
  from?: number;
  to?: number;
  step: number;
}

export const showMetricHistory = (q: MetricQuery, signal?: Signal): Promise<ShowMetricHistoryAnswer> =>
  manage("GET", "metrics/history", { query: query(q), signal });
