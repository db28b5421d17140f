#pragma once

#include <string>
#include <vector>

#include "app/toml.h"
#include "base/result.h"
#include "net/auth/access_key.h"

namespace redrive::app {

// Reads the `[[key]]` tables of the configuration:
//
//   [[key]]
//   id = "AKIA…"
//   secret = "…"                 # or secret-file = "path", or secret-env = "NAME"
//   role = "producer"            # admin, operator, producer, consumer, reader
//   account = "000000000000"     # the server's own when left out
//   name = "order-service"       # the id when left out; becomes SenderId and stands in the audit
//   log queues = ["orders-*"]        # every queue when left out requests-per-second = 100    # no
//   limit when left out
//
// `file` is for messages and for paths that are relative to it.
Result<std::vector<auth::AccessKey>> read_keys(const toml::node& node, const std::string& file);

// The files in which the secrets of these tables are: `file` itself, and every secret-file.
std::vector<std::string> secret_files_of(const toml::node& node, const std::string& file);

// Which users of the machine, other than the owner, may read or change a file.
enum class Exposure { group, others };
struct ExposedFile {
  std::string path;
  Exposure to = Exposure::others;
};

// Those of the files that users other than the owner may read or change.
std::vector<ExposedFile> exposed_files(const std::vector<std::string>& paths);

}  // namespace redrive::app
