#pragma once

#include <string>

#include "cli/session.h"
#include "documents/jobs.h"

namespace redrive::cli {

// "running", with colour where there is any.
std::string job_status(const Terminal& terminal, const documents::Job& job);

// A job as people read it, several lines.
std::string readable_job(const Terminal& terminal, const documents::Job& job);

// Shows a job's progress until it is over, halts, or somebody interrupts; then its end. Fails when
// the job did not complete.
Answer<void> follow_job(Session& session, const std::string& id);

}  // namespace redrive::cli
