#pragma once

#include <memory>
#include <optional>

#include "app/audit_log.h"
#include "app/buckets.h"
#include "app/config.h"
#include "app/storage.h"
#include "base/ids.h"
#include "net/auth/access_key.h"
#include "net/http/server.h"
#include "observe/metrics/history_files.h"

namespace redrive::app {

// Everything of a server that can fail to open: its files and its port. Opened in this order, so
// that the port is bound once the journal has been replayed.
struct Opened {
  ListenAddress listen;
  OutgoingPolicies outgoing;
  auth::KeyRing keys;
  std::unique_ptr<IdSource> ids;
  std::unique_ptr<Storage> storage;
  std::unique_ptr<Buckets> buckets;
  AuditLog audit;
  std::optional<metrics::HistoryFiles> history_files;  // None in memory.
  std::unique_ptr<http::Server> server;
};

// `config` is one that check_config() accepts.
Result<Opened> open_all(const Config& config);

}  // namespace redrive::app
