// The audit log as an operator reads it.

#include "manage/audit.h"

#include <algorithm>

#include "base/padded_text.h"
#include "manage/operations.h"

namespace redrive::manage {
namespace {

constexpr std::size_t kEntries = 100;
constexpr std::size_t kEntriesMax = 1'000;

struct AuditFields {
  std::string_view who;
  std::string_view action;
  std::string_view resource;
};
consteval auto shape_of(AuditFields*) {
  using In = AuditFields;
  return wire::shape(wire::optional("who", &In::who),
                     wire::optional("action", &In::action),
                     wire::optional("resource", &In::resource));
}

bool contains(std::string_view text, std::string_view part) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return !std::ranges::search(text, part, {}, lower, lower).empty() || part.empty();
}

}  // namespace

bool matches(const AuditQuery& query, std::string_view line) {
  thread_local wire::Decoder decoder;
  const PaddedText padded(line);
  AuditFields fields;
  if (!wire::decode_json(decoder, padded, fields)) return false;
  return contains(fields.who, query.who) && contains(fields.action, query.action) &&
         contains(fields.resource, query.resource);
}

Result<Document> read_audit(Call& call) {
  if (!call.parts.audit) {
    return fail(ErrorCode::unsupported_operation, "This server keeps no audit log.");
  }
  const std::size_t limit = TRY(call.query_number("limit", kEntries, kEntriesMax));
  const AuditLines found = TRY(call.parts.audit({.after = call.query("after"),
                                                 .who = call.query("who"),
                                                 .action = call.query("action"),
                                                 .resource = call.query("resource"),
                                                 .limit = limit}));
  Document document;
  document.body = R"({"entries":[)";
  for (const std::string& line : found.lines) {
    if (&line != &found.lines.front()) document.body += ',';
    document.body += line;
  }
  document.body += ']';
  if (!found.next.empty()) {
    document.body += R"(,"next":)";
    wire::append_json_text(document.body, found.next);
  }
  document.body += '}';
  return document;
}

}  // namespace redrive::manage
