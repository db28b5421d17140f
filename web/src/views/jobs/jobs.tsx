// Redrive jobs, those that are not over on top; and the page of one.

import type { JSX } from "preact";
import { listJobs } from "../../api/manage";
import type { Job } from "../../api/types.gen";
import { jobCommand } from "../../model/command_line";
import { countText, nounText } from "../../model/format";
import { links } from "../../model/routes";
import { useResource } from "../../state/resource";
import { route } from "../../state/router";
import { isOver, jobs } from "../../state/store";
import { CommandLine, EmptyState, ErrorNote, Others, PageHead, Section, Skeleton, TimeText } from "../../ui/parts";
import { OutcomeBar } from "../../ui/progress";
import { StatusBadge } from "../../ui/status";
import { FailedAgain, JobControls, JobProgress, JobRate, JobReceipt, jobSentence } from "./job_parts";
import { useJob } from "./use_job";

function JobRow({ job }: { job: Job }): JSX.Element {
  return (
    <tr>
      <td>
        <StatusBadge kind="job" state={job.status} />
      </td>
      <td class="wide">
        <a href={links.job(job.id)}>
          <Others text={job.name || jobSentence(job)} />
        </a>
        <div class="muted">
          <Others text={job.queue} />
          {job.reason && (
            <>
              {" · "}
              <Others text={job.reason} />
            </>
          )}
        </div>
      </td>
      <td class="outcome-cell">
        <OutcomeBar job={job} />
      </td>
      <td class="num">{countText(job.moved)}</td>
      <td class="num">{countText(job.succeeded)}</td>
      <td class="num">{job.failedAgain > 0 ? <b class="c-dead">{countText(job.failedAgain)}</b> : "0"}</td>
      <td class="num">{countText(job.open)}</td>
      <td>
        <Others text={job.actor ?? ""} />
      </td>
      <td>
        <TimeText at={job.startedAt} />
      </td>
    </tr>
  );
}

export function Jobs(): JSX.Element {
  const read = useResource("jobs", (signal) => listJobs(signal));
  const queue = route.value.query.get("queue") ?? "";
  const known = new Map((read.value?.jobs ?? []).map((j) => [j.id, j]));
  for (const job of jobs.value.values()) known.set(job.id, job);
  const all = [...known.values()]
    .filter((j) => !queue || j.queue === queue)
    .sort((a, b) => Number(isOver(a)) - Number(isOver(b)) || b.startedAt.localeCompare(a.startedAt));
  const running = all.filter((j) => !isOver(j)).length;
  return (
    <div class="page">
      <PageHead title="Jobs">
        <div class="facts">
          <span>
            <b>{countText(running)}</b> under way
          </span>
          <span>
            <b>{countText(all.length - running)}</b> over
          </span>
          {queue && (
            <span>
              of <b>{queue}</b> · <a href={links.jobs()}>all queues</a>
            </span>
          )}
        </div>
      </PageHead>
      <section class="section" aria-label="Jobs">
        {read.error && <ErrorNote error={read.error} again={read.again} />}
        {read.loading && all.length === 0 && <Skeleton />}
        {!read.loading && all.length === 0 && !read.error && (
          <EmptyState headline="No job yet.">
            <p>A job sends dead letters back to work, and keeps count of what becomes of them.</p>
            <CommandLine free command="redrive dlq redrive orders-dlq --canary" />
          </EmptyState>
        )}
        {all.length > 0 && (
          <div class="table-wrap">
            <table class="plain jobs">
              <thead>
                <tr>
                  <th>State</th>
                  <th>Selection</th>
                  <th>Outcome</th>
                  <th class="num">Moved</th>
                  <th class="num">Processed</th>
                  <th class="num">Again</th>
                  <th class="num">Open</th>
                  <th>By</th>
                  <th>Started</th>
                </tr>
              </thead>
              <tbody>
                {all.map((job) => (
                  <JobRow key={job.id} job={job} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </section>
    </div>
  );
}

function JobFacts({ job }: { job: Job }): JSX.Element {
  return (
    <div class="facts">
      <span>
        from <a href={links.queue(job.queue)}>{job.queue}</a>
      </span>
      <span>
        started{" "}
        <b>
          <TimeText at={job.startedAt} />
        </b>
      </span>
      {job.endedAt && (
        <span>
          ended{" "}
          <b>
            <TimeText at={job.endedAt} />
          </b>
        </span>
      )}
      {job.actor && (
        <span>
          by <b>{job.actor}</b>
        </span>
      )}
      {job.reason && (
        <span>
          reason <b>{<Others text={job.reason} />}</b>
        </span>
      )}
    </div>
  );
}

export function JobPage(): JSX.Element {
  const id = route.value.params.job ?? "";
  const job = useJob(id);
  if (!job) {
    return (
      <div class="page">
        <PageHead crumbs={[{ text: "Jobs", href: links.jobs() }, { text: id }]} title="Job" />
        <section class="section" aria-label="Job">
          <Skeleton />
        </section>
      </div>
    );
  }
  return (
    <div class="page">
      <PageHead
        crumbs={[{ text: "Jobs", href: links.jobs() }, { text: `job ${id.slice(0, 8)}` }]}
        title={
          <>
            <span>Redrive of {nounText(job.toMove, "message")}</span>
            <StatusBadge kind="job" state={job.status} />
          </>
        }
      >
        <JobFacts job={job} />
        <div class="bar">
          <JobControls job={job} />
        </div>
      </PageHead>
      <div class="columns side">
        <div class="column">
          <JobProgress job={job} />
          <FailedAgain job={job} />
          {job.patch && (
            <Section title="Patch">
              <pre class="code">
                <Others text={job.patch} multiline />
              </pre>
            </Section>
          )}
        </div>
        <div class="column">
          <JobReceipt job={job} />
          {!isOver(job) && (
            <Section title="Rate">
              <JobRate job={job} />
            </Section>
          )}
          {job.events && job.events.length > 0 && (
            <Section title="What happened">
              <ol class="timeline">
                {job.events.map((event) => (
                  <li>
                    <i class="point" />
                    <span>
                      <Others text={event.text ?? event.what} />
                      {event.actor && <span class="faint"> by {event.actor}</span>}
                    </span>
                    <TimeText at={event.at} style="clock" />
                  </li>
                ))}
              </ol>
            </Section>
          )}
          <Section title="Command">
            <CommandLine command={jobCommand("watch", job.id)} />
          </Section>
        </div>
      </div>
    </div>
  );
}
