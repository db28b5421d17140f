// A job as it is now: from the news, and read again while something about it is open.

import { useEffect, useState } from "preact/hooks";
import type { JobWithEvents } from "../../api/additions";
import { showJob } from "../../api/manage";
import { say } from "../../state/notices";
import { isOver, jobs, noteJob } from "../../state/store";

export function useJob(id: string): JobWithEvents | undefined {
  const row = jobs.value.get(id);
  const [read, setRead] = useState<JobWithEvents | undefined>(undefined);
  const [round, setRound] = useState(0);
  const job = newer(row, read);
  const settled = job !== undefined && isOver(job) && job.open === 0;

  useEffect(() => {
    const abort = new AbortController();
    showJob(id, abort.signal).then(
      (found) => {
        setRead(found);
        noteJob(found);
      },
      () => undefined,
    );
    return () => abort.abort();
  }, [id, round]);
  useEffect(() => {
    if (settled) return undefined;
    const timer = setTimeout(() => !document.hidden && setRound((r) => r + 1), 1000);
    return () => clearTimeout(timer);
  }, [round, settled]);
  useEffect(() => {
    if (job)
      say(`Redrive ${job.status}: ${job.succeeded} processed, ${job.failedAgain} failed again, ${job.open} open.`);
  }, [job?.status, job?.stage, job?.open === 0]);
  return job;
}

// Counts only grow: the one that has moved or settled more is later.
function newer(a: JobWithEvents | undefined, b: JobWithEvents | undefined): JobWithEvents | undefined {
  if (!a || !b || a.id !== b.id) return a ?? b;
  const progress = (j: JobWithEvents): number => j.moved * 2 - j.open + (isOver(j) ? 1 : 0);
  return progress(a) > progress(b) ? { ...b, ...a } : { ...a, ...b };
}
