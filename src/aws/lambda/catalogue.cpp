#include "aws/lambda/catalogue.h"

#include "base/result.h"
#include "core/catalogue/documents.h"
#include "core/engine/in_turns.h"
#include "core/queue/consumer_name.h"
#include "front/catalogue_access.h"

namespace redrive::lambda {
namespace {

using queue::EntryKind;

// Entries of one kind whose account and region are the caller's.
template <class T, class Decode, class Mine>
std::vector<T> entries_of(const Call& call, EntryKind kind, Decode decode, Mine mine) {
  std::vector<T> found;
  engine::visit_documents(
      call.parts.engine, kind, "", [&](const std::string&, const std::string& document) {
        auto value = decode(document);
        if (value && mine(*value)) found.push_back(*std::move(value));
        return true;
      });
  return found;
}

// The role of the function in consumer names; see queue::ConsumerName.
std::string function_role(const functions::FunctionId& id) {
  return queue::ConsumerName{.kind = queue::ConsumerName::Kind::function, .name = id.name}.role();
}

// Publishes the current function; the new version is added to the function.
functions::Function keep_published(engine::Turn& turn, functions::Function& function,
                                   const std::string& description) {
  functions::Function version = functions::publish(function,
                                                   {.description = description,
                                                    .revision = turn.ids().uuid().text(),
                                                    .wall = turn.stamp().wall});
  keep(turn, function);
  return version;
}

}  // namespace

std::unexpected<Refusal> no_such_function(const CalledFunction& called) {
  return not_found("Function not found: " + called.arn());
}

std::unexpected<Refusal> no_such_resource() {
  return not_found("The resource you requested does not exist.");
}

std::unexpected<Refusal> stale_revision() {
  return refuse(
      412,
      "PreconditionFailedException",
      "The RevisionId provided does not match the latest RevisionId. Call the GetFunction "
      "API to retrieve the latest RevisionId for your resource.");
}

Outcome<functions::Function> load_function(engine::Turn& turn, const CalledFunction& called) {
  const std::string* const entry = turn.state().find_entry(EntryKind::function, called.id.arn());
  if (entry == nullptr || !called.is_latest()) return no_such_function(called);
  return told<functions::Function>(functions::decode_function(*entry));
}

Outcome<functions::Function> load_version(engine::Turn& turn, const CalledFunction& called) {
  const CalledFunction whole{.id = called.id, .qualifier = {}};
  auto version = functions::find_version(TRY(load_function(turn, whole)), called.qualifier);
  if (!version) return no_such_function(called);
  return *std::move(version);
}

Outcome<functions::Mapping> load_mapping(engine::Turn& turn, const std::string& id) {
  const std::string* const entry = turn.state().find_entry(EntryKind::mapping, id);
  if (entry == nullptr) return no_such_resource();
  return told<functions::Mapping>(functions::decode_mapping(*entry));
}

void keep(engine::Turn& turn, const functions::Function& function) {
  catalogue::put(turn, EntryKind::function, function.id.arn(), functions::encode(function));
}

void keep(engine::Turn& turn, const functions::Mapping& mapping) {
  catalogue::put(turn, EntryKind::mapping, mapping.id, functions::encode(mapping));
}

void keep_deployed(engine::Turn& turn, const functions::Function& function,
                   const functions::Function& deployed) {
  catalogue::Edits()
      .put(EntryKind::function, function.id.arn(), functions::encode(function))
      .deploy(function_role(function.id), queue::code_digits(deployed.code_sha256), turn)
      .commit(turn);
}

const functions::Function& save(engine::Turn& turn, functions::Function& function) {
  function.revision = turn.ids().uuid().text();
  function.modified_wall = turn.stamp().wall;
  if (functions::note_code(function, turn.stamp().wall)) {
    keep_deployed(turn, function, function);
  } else {
    keep(turn, function);
  }
  return function;
}

functions::Function save_and_publish(engine::Turn& turn, functions::Function& function,
                                     const std::string& description) {
  save(turn, function);
  return keep_published(turn, function, description);
}

void free_code(Call& call, const functions::FunctionId& function,
               const std::set<std::string>& sha256s) {
  for (const std::string& sha256 : sha256s) {
    call.parts.invoker.forget(function.arn() + ":@" + queue::code_digits(sha256));
    call.parts.functions.free_code(sha256);
  }
}

Outcome<functions::Function> publish_version(Call& call, const CalledFunction& called,
                                             const std::string& description) {
  return call.parts.engine.turn([&](engine::Turn& turn) -> Outcome<functions::Function> {
    functions::Function function = TRY(load_function(turn, called));
    return keep_published(turn, function, description);
  });
}

void save(engine::Turn& turn, functions::Mapping& mapping) {
  mapping.modified_wall = turn.stamp().wall;
  keep(turn, mapping);
}

Outcome<void> may_touch(const Call& call, const functions::Mapping& mapping) {
  return told<void>(
      front::authorize_mapping(call.parts.engine,
                               call.caller,
                               call.operation(),
                               {mapping.account, mapping.queue_arn, mapping.function_arn}));
}

Outcome<void> may_touch(const Call& call, engine::Turn& turn, const functions::Mapping& mapping) {
  return told<void>(
      front::authorize_mapping(std::as_const(turn).state(),
                               call.caller,
                               call.operation(),
                               {mapping.account, mapping.queue_arn, mapping.function_arn}));
}

Outcome<functions::Function> find_function(const Call& call, const CalledFunction& called) {
  // Decoded outside the turn: a function with many versions has a long document.
  const auto document =
      call.parts.engine.turn([&](engine::Turn& turn) -> std::optional<std::string> {
        const auto* entry = turn.state().find_entry(EntryKind::function, called.id.arn());
        return entry == nullptr ? std::nullopt : std::optional(*entry);
      });
  if (!document) return no_such_function({.id = called.id, .qualifier = {}});
  const auto function = TRY(told<functions::Function>(functions::decode_function(*document)));
  auto version = functions::find_version(function, called.qualifier);
  if (!version) return no_such_function(called);
  return *std::move(version);
}

Outcome<functions::Function> called_function(const Call& call) {
  const CalledFunction called = TRY(call.function());
  return find_function(call, called);
}

std::vector<std::string> invoke_configs_of(engine::Turn& turn, const functions::FunctionId& id) {
  std::vector<std::string> found;
  const std::string arn = id.arn();
  const auto& entries = std::as_const(turn).state().entries();
  for (auto at = entries.lower_bound({EntryKind::invoke_config, arn});
       at != entries.end() && at->first.first == EntryKind::invoke_config &&
       at->first.second.starts_with(arn);
       ++at) {
    if (without_qualifier(at->first.second) == arn) found.push_back(at->first.second);
  }
  return found;
}

std::vector<functions::Function> all_functions(const Call& call) {
  return entries_of<functions::Function>(
      call, EntryKind::function, functions::decode_function, [&](const functions::Function& each) {
        return each.id.account == call.caller.account && each.id.region == call.caller.region;
      });
}

std::vector<functions::Mapping> all_mappings(const Call& call) {
  return entries_of<functions::Mapping>(
      call, EntryKind::mapping, functions::decode_mapping, [&](const functions::Mapping& each) {
        return each.account == call.caller.account && each.region == call.caller.region;
      });
}

}  // namespace redrive::lambda
