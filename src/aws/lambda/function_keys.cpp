#include "aws/lambda/function_keys.h"

#include <algorithm>
#include <utility>

#include "aws/lambda/functions.h"
#include "core/engine/in_turns.h"
#include "functions/definitions/codec.h"

namespace redrive::lambda {
namespace {

using auth::Statement;
using queue::EntryKind;

// What a consumer needs. The server itself receives and deletes for the mapping; a handler may want
// to extend, or to take more from its own queue.
const std::vector<std::string> kConsuming = {"sqs:ReceiveMessage",
                                             "sqs:DeleteMessage",
                                             "sqs:ChangeMessageVisibility",
                                             "sqs:GetQueueAttributes",
                                             "sqs:GetQueueUrl"};

// Documents of one kind, a few in each turn.
std::vector<std::string> documents_of(engine::Engine& engine, EntryKind kind) {
  std::vector<std::string> documents;
  engine::visit_documents(engine, kind, "", [&](const std::string&, const std::string& document) {
    documents.push_back(document);
    return true;
  });
  return documents;
}

}  // namespace

std::vector<Statement> function_statements(const std::vector<std::string>& source_arns,
                                           const std::optional<std::vector<Statement>>& role) {
  std::vector<Statement> statements = role.value_or(std::vector<Statement>());
  if (!source_arns.empty()) {
    statements.push_back(
        {.effect = Statement::Effect::allow, .actions = kConsuming, .resources = source_arns});
  }
  return statements;
}

struct FunctionKeys::Reading {
  std::map<std::string, functions::Function> functions;     // By ARN.
  std::map<std::string, std::vector<std::string>> sources;  // Queue ARNs by function ARN.
};

FunctionKeys::Reading FunctionKeys::read_catalogue() const {
  Reading reading;
  for (const std::string& document : documents_of(parts_.engine, EntryKind::function)) {
    auto function = functions::decode_function(document);
    if (!function) continue;
    std::string arn = function->id.arn();
    reading.functions.emplace(std::move(arn), *std::move(function));
  }
  for (const std::string& document : documents_of(parts_.engine, EntryKind::mapping)) {
    const auto mapping = functions::decode_mapping(document);
    if (!mapping) continue;
    reading.sources[without_qualifier(mapping->function_arn)].push_back(mapping->queue_arn);
  }
  return reading;
}

auth::AccessKey FunctionKeys::key_of(const Reading& reading, const std::string& arn,
                                     const Key& key) const {
  const functions::Function& function = reading.functions.at(arn);
  auth::AccessKey made{.id = key.id,
                       .secret = key.secret,
                       .account = function.id.account,
                       .name = "function/" + function.id.name,
                       .role = auth::Role::scoped,
                       .queues = {},
                       .requests_per_second = 0};
  made.sender = sender_of(function);
  if (parts_.account_wide) {
    made.role = auth::Role::operator_;
    return made;
  }
  const auto sources = reading.sources.find(arn);
  made.statements = function_statements(
      sources == reading.sources.end() ? std::vector<std::string>() : sources->second,
      parts_.role_permissions ? parts_.role_permissions(function.id.account, function.role)
                              : std::nullopt);
  return made;
}

std::string FunctionKeys::sender_of(const functions::Function& function) const {
  std::string role;
  if (parts_.role_id) role = parts_.role_id(function.id.account, function.role);
  if (role.empty()) role = function.role.substr(function.role.rfind('/') + 1);
  return role + ":" + function.id.name;
}

void FunctionKeys::refresh_locked() {
  const Reading reading = read_catalogue();
  std::erase_if(lent_, [&](const auto& entry) { return !reading.functions.contains(entry.first); });
  std::vector<auth::AccessKey> keys;
  for (const auto& [arn, function] : reading.functions) {
    Key& key = lent_[arn];
    if (key.id.empty()) key = {auth::make_key_id(), auth::make_key_secret()};
    keys.push_back(key_of(reading, arn, key));
  }
  parts_.gate.lend(std::move(keys));
}

void FunctionKeys::refresh() {
  if (parts_.gate.open()) return;
  const MutexLock lock(mutex_);
  refresh_locked();
}

// A server without keys takes the account from the key id.
FunctionKeys::Key FunctionKeys::key_for(const functions::FunctionId& function) {
  if (parts_.gate.open()) return {function.account, "test"};
  const MutexLock lock(mutex_);
  auto found = lent_.find(function.arn());
  if (found == lent_.end()) {
    refresh_locked();
    found = lent_.find(function.arn());
  }
  // A function that was deleted meanwhile gets a key without rights.
  return found == lent_.end() ? Key{auth::make_key_id(), auth::make_key_secret()} : found->second;
}

}  // namespace redrive::lambda
