#include "aws/lambda/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/engine/in_turns.h"
#include "core/queue/consumer_name.h"
#include "functions/definitions/codec.h"
#include "functions/definitions/versions.h"
#include "functions/runtime/interpreters.h"

namespace redrive::lambda {
namespace {

using queue::EntryKind;

constexpr int kColonsOfArn = 6;  // arn:aws:lambda:region:account:function:name

}  // namespace

std::string without_qualifier(const std::string& arn) {
  std::size_t end = arn.find(':');
  for (int colon = 0; colon < kColonsOfArn && end != arn.npos; ++colon) {
    end = arn.find(':', end + 1);
  }
  return arn.substr(0, end);
}

std::string qualifier_of(const std::string& arn) {
  const std::size_t end = without_qualifier(arn).size();
  return end < arn.size() ? arn.substr(end + 1) : std::string();
}

std::string version_name(const functions::Function& function) {
  return function.version.empty() ? std::string(functions::kLatest) : function.version;
}

std::string arn_of_version(const functions::Function& function) {
  const std::string arn = function.id.arn();
  return function.version.empty() ? arn : arn + ":" + function.version;
}

Result<std::shared_ptr<const Deployed>> Functions::find(const std::string& arn) {
  const std::string name = without_qualifier(arn);
  const auto document = parts_.engine.turn([&](engine::Turn& turn) -> std::optional<std::string> {
    const std::string* const entry = turn.state().find_entry(EntryKind::function, name);
    return entry == nullptr ? std::nullopt : std::optional(*entry);
  });
  {
    const MutexLock lock(mutex_);
    const auto known = known_.find(arn);
    if (!document && known != known_.end()) known_.erase(known);
    if (document && known != known_.end() && known->second.document == *document) {
      return known->second.deployed;
    }
  }
  if (!document) return fail(ErrorCode::resource_not_found, "Function not found: " + arn);
  const auto version =
      functions::find_version(TRY(functions::decode_function(*document)), qualifier_of(arn));
  if (!version) return fail(ErrorCode::resource_not_found, "Function not found: " + arn);
  auto deployed = TRY(deploy(*version));
  const MutexLock lock(mutex_);
  known_[arn] = {*document, deployed};
  return deployed;
}

// A published version has processes of its own.
Result<std::shared_ptr<const Deployed>> Functions::deploy(const functions::Function& function) {
  auto deployed = std::make_shared<Deployed>();
  deployed->function = function;
  std::filesystem::path code = function.directory;
  if (!function.code_sha256.empty()) code = TRY(parts_.code.directory(function.code_sha256));
  deployed->spec = std::make_shared<const runtime::FunctionSpec>(
      runtime::FunctionSpec{.arn = arn_of_version(function),
                            .name = function.id.name,
                            .version = version_name(function),
                            .runtime = function.runtime,
                            .handler = function.handler,
                            .code = std::move(code),
                            .command = function.command,
                            .url = function.url,
                            .revision = function.revision,
                            .timeout = function.timeout,
                            .memory_mb = function.memory_mb,
                            .environment = environment_of(function),
                            .concurrency_max = function.reserved_concurrency,
                            .region = function.id.region,
                            .code_version = queue::code_digits(function.code_sha256),
                            .interpreter = runtime::interpreter_for(function.runtime).version});
  return deployed;
}

// Variables of the function override the defaults; reserved ones cannot be set.
std::map<std::string, std::string> Functions::environment_of(const functions::Function& function) {
  const FunctionKeys::Key key = keys_.key_for(function.id);
  std::map<std::string, std::string> environment = function.environment;
  environment.insert({{"AWS_ENDPOINT_URL", parts_.endpoint_url()},
                      {"AWS_REGION", function.id.region},
                      {"AWS_DEFAULT_REGION", function.id.region},
                      {"AWS_ACCESS_KEY_ID", key.id},
                      {"AWS_SECRET_ACCESS_KEY", key.secret}});
  if (parts_.gate.open()) {
    environment["AWS_SESSION_TOKEN"] = std::string(front::kSenderToken) + keys_.sender_of(function);
  }
  return environment;
}

std::vector<functions::Function> Functions::all_versions() const {
  std::vector<functions::Function> all;
  const auto add = [&](const std::string&, const std::string& document) {
    auto function = functions::decode_function(document);
    if (!function) return true;
    for (auto& version : functions::versions_of(*function)) all.push_back(std::move(version));
    all.push_back(*std::move(function));
    return true;
  };
  engine::visit_documents(parts_.engine, EntryKind::function, "", add);
  return all;
}

void Functions::forget_unused_code() {
  std::set<std::string> used;
  for (const auto& version : all_versions()) used.merge(functions::code_of(version));
  parts_.code.keep_only(used);
}

void Functions::free_code(const std::string& sha256) {
  parts_.code.remove_unless(sha256, [&] {
    bool used = false;
    const auto look = [&](const std::string&, const std::string& document) {
      const auto function = functions::decode_function(document);
      // An unreadable function may use any code.
      used = !function || functions::code_of(*function).contains(sha256);
      return !used;
    };
    engine::visit_documents(parts_.engine, EntryKind::function, "", look);
    return used;
  });
}

std::set<std::string> Functions::arns() const {
  std::set<std::string> found;
  for (const auto& version : all_versions()) {
    found.insert(arn_of_version(version));
    for (const auto& code : version.code_history) {
      found.insert(version.id.arn() + ":@" + queue::code_digits(code.sha256));
    }
  }
  return found;
}

}  // namespace redrive::lambda
