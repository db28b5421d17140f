#include "aws/sqs/model/policy_document.h"

#include <simdjson.h>

#include <vector>

#include "net/wire/encode.h"

namespace redrive::sqs {
namespace {

using Element = simdjson::dom::element;

// Calls `visit` for each statement; a single one need not be in a list.
template <class Visit>
void for_each_statement(const Element& document, Visit visit) {
  Element statements;
  if (document["Statement"].get(statements) != simdjson::SUCCESS) return;
  if (!statements.is_array()) return visit(statements);
  for (const Element statement : statements.get_array()) visit(statement);
}

bool has_sid(const Element& statement, std::string_view sid) {
  std::string_view found;
  return statement["Sid"].get(found) == simdjson::SUCCESS && found == sid;
}

// A list of one is written as the one.
template <class Write>
void append_one_or_list(std::string& out, std::span<const std::string_view> items, Write write) {
  if (items.size() != 1) out += '[';
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ',';
    wire::append_json_text(out, write(items[i]));
  }
  if (items.size() != 1) out += ']';
}

std::string statement_text(const Permission& permission) {
  std::string out = R"({"Sid":)";
  wire::append_json_text(out, permission.label);
  out += R"(,"Effect":"Allow","Principal":{"AWS":)";
  append_one_or_list(out, permission.accounts, [](std::string_view account) {
    return "arn:aws:iam::" + std::string(account) + ":root";
  });
  out += R"(},"Action":)";
  append_one_or_list(out, permission.actions, [](std::string_view action) {
    return "SQS:" + std::string(action);
  });
  out += R"(,"Resource":)";
  wire::append_json_text(out, permission.queue_arn);
  out += '}';
  return out;
}

// The document with `statements` in place of its own.
std::string with_statements(const Element& document, const std::vector<std::string>& statements) {
  std::string out = "{";
  for (const auto& member : document.get_object()) {
    if (member.key == "Statement") continue;
    wire::append_json_text(out, member.key);
    out += ':' + simdjson::to_string(member.value) + ',';
  }
  out += R"("Statement":[)";
  for (std::size_t i = 0; i < statements.size(); ++i) out += (i > 0 ? "," : "") + statements[i];
  return out + "]}";
}

}  // namespace

bool is_policy(std::string_view text) {
  simdjson::dom::parser parser;
  Element document;
  return parser.parse(text.data(), text.size()).get(document) == simdjson::SUCCESS &&
         document.is_object();
}

bool policy_has_statement(std::string_view policy, std::string_view sid) {
  simdjson::dom::parser parser;
  Element document;
  if (policy.empty() ||
      parser.parse(policy.data(), policy.size()).get(document) != simdjson::SUCCESS)
    return false;
  bool found = false;
  for_each_statement(document,
                     [&](const Element& statement) { found = found || has_sid(statement, sid); });
  return found;
}

std::string policy_with(std::string_view policy, const Permission& permission) {
  std::string fresh = R"({"Version":"2008-10-17","Id":")" + std::string(permission.queue_arn) +
                      R"(/SQSDefaultPolicy"})";
  if (policy.empty()) policy = fresh;
  simdjson::dom::parser parser;
  const Element document = parser.parse(policy.data(), policy.size()).value();
  std::vector<std::string> statements;
  for_each_statement(document, [&](const Element& statement) {
    statements.push_back(simdjson::to_string(statement));
  });
  statements.push_back(statement_text(permission));
  return with_statements(document, statements);
}

std::string policy_without(std::string_view policy, std::string_view sid) {
  simdjson::dom::parser parser;
  const Element document = parser.parse(policy.data(), policy.size()).value();
  std::vector<std::string> statements;
  for_each_statement(document, [&](const Element& statement) {
    if (!has_sid(statement, sid)) statements.push_back(simdjson::to_string(statement));
  });
  return statements.empty() ? std::string() : with_statements(document, statements);
}

}  // namespace redrive::sqs
