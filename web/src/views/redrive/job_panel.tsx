// A job in the drawer: the same parts as on its page.

import type { JSX } from "preact";
import { links } from "../../model/routes";
import { jobs } from "../../state/store";
import { Drawer } from "../../ui/overlay";
import { Skeleton } from "../../ui/parts";
import { StatusBadge } from "../../ui/status";
import { JobControls, JobProgress, JobReceipt } from "../jobs/job_parts";
import { useJob } from "../jobs/use_job";
import { closePanel } from "./redrive_state";

export function JobPanel({ id }: { id: string }): JSX.Element {
  const job = useJob(id) ?? jobs.value.get(id);
  return (
    <Drawer
      title={
        job ? (
          <>
            Redrive <StatusBadge kind="job" state={job.status} />
          </>
        ) : (
          "Redrive"
        )
      }
      label="Redrive job"
      close={closePanel}
      footer={
        <div class="bar">
          {job && <JobControls job={job} />}
          <a class="button plain" href={links.job(id)} onClick={closePanel}>
            Open the job's page
          </a>
        </div>
      }
    >
      {job ? (
        <>
          <JobProgress job={job} />
          <JobReceipt job={job} />
        </>
      ) : (
        <Skeleton />
      )}
    </Drawer>
  );
}
