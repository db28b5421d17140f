#include "api/audit.h"

#include <fmt/format.h>

#include "base/calendar.h"
#include "sqs/errors.h"
#include "wire/encode.h"

namespace redrive::api {
namespace {

void append_member(std::string& line, std::string_view name, std::string_view value) {
  line += line.empty() ? '{' : ',';
  wire::append_json_text(line, name);
  line += ':';
  wire::append_json_text(line, value);
}

}  // namespace

std::string audit_line(const Call& call, const AuditEntry& entry, Timestamp wall) {
  std::string line;
  append_member(line, "time", format_utc(wall));
  append_member(line, "who", call.sender_id);
  if (call.key != nullptr) append_member(line, "key", call.key->id);
  append_member(line, "account", call.account);
  append_member(line, "from", call.peer);
  append_member(line, "action", entry.action);
  if (!entry.queue_arn.empty()) append_member(line, "queue", entry.queue_arn);
  append_member(line,
                "outcome",
                entry.error == nullptr ? "done" : sqs::error_row(entry.error->code).query_code);
  if (entry.error != nullptr) append_member(line, "error", entry.error->message);
  append_member(line, "requestId", entry.request_id);
  line.append(R"(,"request":)").append(entry.request).append("}");
  return line;
}

}  // namespace redrive::api
