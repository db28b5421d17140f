#include "front/request_telemetry.h"

#include "base/calendar.h"
#include "net/wire/encode.h"

namespace redrive::front {
namespace {

// Longer texts are cut, and of longer requests only the start is kept.
constexpr std::size_t kAuditTextBytesMax = 1024;
constexpr std::size_t kAuditRequestBytesMax = 4096;

// The first bytes of a text; no character is cut in two.
std::string_view start_of(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

void append_member(std::string& line, std::string_view name, std::string_view value) {
  line += line.empty() ? '{' : ',';
  wire::append_json_text(line, name);
  line += ':';
  wire::append_json_text(line, start_of(value, kAuditTextBytesMax));
}

void append_request(std::string& line, std::string_view json) {
  if (json.size() <= kAuditRequestBytesMax) {
    line.append(R"(,"request":)").append(json);
    return;
  }
  append_member(line, "requestStart", json);
  line.append(R"(,"requestBytes":)").append(std::to_string(json.size()));
}

}  // namespace

RequestTelemetry::RequestTelemetry(Observers observers, std::string service,
                                   std::vector<std::string_view> actions)
    : observers_(std::move(observers)),
      actions_(std::make_shared<metrics::ActionMetrics>(std::move(service), std::move(actions))) {
  if (observers_.recorded != nullptr) observers_.recorded->apis.push_back(actions_);
}

void RequestTelemetry::refused(const RequestMark& request, const Refusal& how) const {
  actions_->count_error(request.action, how.code);
  tell(request, how);
}

void RequestTelemetry::tell(const RequestMark& request, const Refusal& how) const {
  if (!observers_.failed || (how.status < 500 && !how.unauthenticated)) return;
  const bool named = request.action != unknown();
  observers_.failed({how,
                     request.id,
                     actions_->service(),
                     named ? actions_->name(request.action) : std::string_view(),
                     request.peer});
}

// One line, without its end:
// {"time":…,"who":…,"key":…,"account":…,"from":…,"service":…,"action":…,"resource":…,"outcome":…,
//  "error":…,"requestId":…,"request":{…}}
// A request that is too long for it: "requestStart":"…","requestBytes":….
void RequestTelemetry::audit(const RequestMark& request, const Caller& caller,
                             const AuditEntry& entry, Timestamp wall) const {
  if (!observers_.audit) return;
  const bool limited = entry.refused != nullptr && observers_.audits_refusal;
  if (limited && !observers_.audits_refusal(caller.sender_id, request.peer)) return;
  std::string line;
  append_member(line, "time", format_utc(wall));
  append_member(line, "who", caller.sender_id);
  if (caller.key != nullptr) append_member(line, "key", caller.key->id);
  append_member(line, "account", caller.account);
  append_member(line, "from", request.peer);
  append_member(line, "service", actions_->service());
  append_member(line, "action", actions_->name(request.action));
  if (!entry.resource.empty()) append_member(line, "resource", entry.resource);
  append_member(line, "outcome", entry.refused == nullptr ? "done" : entry.refused->code);
  if (entry.refused != nullptr) append_member(line, "error", entry.refused->message);
  append_member(line, "requestId", request.id);
  if (!entry.request_json.empty()) append_request(line, entry.request_json);
  line += '}';
  observers_.audit(std::move(line));
}

bool is_unauthenticated(ErrorCode code) {
  return code == ErrorCode::missing_authentication_token ||
         code == ErrorCode::incomplete_signature || code == ErrorCode::invalid_client_token_id ||
         code == ErrorCode::signature_does_not_match;
}

std::string new_request_id() {
  thread_local RandomIds ids;
  return ids.uuid().text();
}

}  // namespace redrive::front
