#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/client/session.h"
#include "cli/client/verb.h"
#include "dead_letters/archive/target.h"

namespace redrive::cli {

// Location of an archive and how to access it, from the command line.
struct ArchivePlace {
  std::string location;  // s3://bucket/prefix or file:///directory
  std::optional<std::string> endpoint_url;
  std::optional<std::string> addressing;
};

void add_archive_place_options(Verb verb, ArchivePlace& place);

struct OpenArchive {
  std::unique_ptr<archive::ArchiveTarget> target;  // For one thread.
  std::string prefix;                              // Prefix of every key.
  std::string location;                            // Precedes a key: s3://bucket, file:///directory
};

// The S3 endpoint comes from the option, from AWS_ENDPOINT_URL_S3, or is the endpoint used for SQS,
// or AWS itself if that is AWS.
Answer<OpenArchive> open_archive(const ArchivePlace& place, Session& session);

Failure failure_of_archive(const Error& error);

}  // namespace redrive::cli
