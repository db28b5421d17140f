#include "app/opened.h"

#include <algorithm>
#include <filesystem>
#include <thread>

#include "app/keys.h"

namespace redrive::app {
namespace {

// A server in memory keeps no audit log either, unless the configuration names a file.
std::string audit_path(const Config& config) {
  if (!config.audit_log.empty() || config.memory) return config.audit_log;
  return config.data + "/audit.ndjson";
}

Result<AuditLog> open_audit(const Config& config) {
  return AuditLog::open({.path = audit_path(config),
                         .file_bytes_max = config.audit_file_bytes_max,
                         .files_max = config.audit_files_max});
}

Result<std::optional<metrics::HistoryFiles>> open_history(const Config& config) {
  if (config.memory) return std::nullopt;
  return TRY(metrics::HistoryFiles::open(std::filesystem::path(config.data) / "metrics"));
}

// An object of the largest size travels in chunks, which need space, too.
http::Limits with_uploads(http::Limits limits, std::uint64_t object_bytes_max) {
  limits.upload_bytes_max = object_bytes_max + object_bytes_max / 64 + (64u << 10);
  return limits;
}

Result<std::unique_ptr<http::Server>> open_server(const Config& config,
                                                  const ListenAddress& listen) {
  const unsigned half_the_cores = std::max(1u, std::thread::hardware_concurrency() / 2);
  return http::Server::open({.address = listen.address,
                             .port = listen.port,
                             .threads = config.threads > 0 ? config.threads : half_the_cores,
                             .limits = with_uploads(config.limits, config.object_bytes_max),
                             .tls = config.tls()});
}

}  // namespace

Result<Opened> open_all(const Config& config) {
  ListenAddress listen = TRY(parse_listen(config.listen));
  OutgoingPolicies outgoing = TRY(outgoing_policies(config, listen));
  auth::KeyRing keys = TRY(key_ring(config));
  auto ids = std::make_unique<RandomIds>();
  auto storage = TRY(open_storage(config));
  auto buckets = TRY(Buckets::open(config, *ids));
  AuditLog audit = TRY(open_audit(config));
  auto history_files = TRY(open_history(config));
  auto server = TRY(open_server(config, listen));
  return Opened{.listen = std::move(listen),
                .outgoing = std::move(outgoing),
                .keys = std::move(keys),
                .ids = std::move(ids),
                .storage = std::move(storage),
                .buckets = std::move(buckets),
                .audit = std::move(audit),
                .history_files = std::move(history_files),
                .server = std::move(server)};
}

}  // namespace redrive::app
