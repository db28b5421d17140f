#pragma once

#include <memory>
#include <optional>
#include <string>

#include "archive/target.h"
#include "cli/session.h"
#include "cli/verb.h"

namespace redrive::cli {

// Where an archive is and how it is reached, as the command line says it.
struct ArchivePlace {
  std::string location;  // s3://bucket/prefix or file:///directory
  std::optional<std::string> endpoint_url;
  std::optional<std::string> addressing;
};

void add_archive_place_options(Verb verb, ArchivePlace& place);

struct OpenArchive {
  std::unique_ptr<archive::ArchiveTarget> target;  // For one thread.
  std::string prefix;                              // Of every key.
  std::string location;  // What stands before a key: s3://bucket, file:///directory
};

// An S3 endpoint is that of the option, of AWS_ENDPOINT_URL_S3, the one that queues are asked for
// at, or AWS itself when queues are there.
Answer<OpenArchive> open_archive(const ArchivePlace& place, Session& session);

Failure failure_of_archive(const Error& error);

}  // namespace redrive::cli
