#include "app/handlers.h"

#include <spdlog/spdlog.h>

#include "core/engine/in_turns.h"
#include "functions/definitions/codec.h"
#include "functions/definitions/versions.h"
#include "functions/dispatch/destination.h"
#include "functions/runtime/late_invoker.h"
#include "functions/runtime/log_files.h"
#include "observe/monitor/measured_invoker.h"

namespace redrive::app {
namespace {

using queue::EntryKind;
namespace fs = std::filesystem;

// What the catalogue has of one kind, decoded outside the turn.
struct Documents {
  std::vector<std::string> functions;
  std::vector<std::string> mappings;
  std::map<std::string, std::string> configs;  // By function.
};

Documents read_catalogue(engine::Engine& engine) {
  Documents found;
  const auto read = [&](EntryKind kind, const auto& add) {
    engine::visit_documents(
        engine, kind, "", [&](const std::string& name, const std::string& document) {
          add(name, document);
          return true;
        });
  };
  read(EntryKind::function,
       [&](const auto&, const auto& text) { found.functions.push_back(text); });
  read(EntryKind::mapping, [&](const auto&, const auto& text) { found.mappings.push_back(text); });
  read(EntryKind::invoke_config,
       [&](const auto& name, const auto& text) { found.configs[name] = text; });
  return found;
}

// The versions and aliases of a function for which events wait, or have waited.
std::vector<std::string> qualifiers_with_events(engine::Engine& engine,
                                                const functions::Function& function) {
  std::vector<std::string> all;
  for (const auto& version : functions::versions_of(function)) all.push_back(version.version);
  for (const auto& alias : functions::aliases_of(function)) all.push_back(alias.name);
  if (all.empty()) return all;
  return engine.turn([&](engine::Turn& turn) {
    std::erase_if(all, [&](const std::string& qualifier) {
      functions::FunctionId id = function.id;
      id.name += ":" + qualifier;
      return turn.state().find(dispatch::async_queue_of(id)) == nullptr;
    });
    return all;
  });
}

void complain(std::string_view what, const Error& error) {
  spdlog::error("{}: {}", what, error.message);
}

fs::path code_root(const Config& config, const fs::path& scratch) {
  return config.memory ? scratch / "code" : fs::path(config.data) / "functions";
}

}  // namespace

Handlers::Handlers(const Parts& parts)
    : engine_(parts.engine),
      scratch_(fs::temp_directory_path(), parts.ids),
      code_({.root = code_root(parts.config, scratch_.path()),
             .sync = parts.config.memory ? objects::Sync::no : objects::Sync::yes,
             .passing = parts.config.memory}),
      functions_({.engine = parts.engine,
                  .gate = parts.gate,
                  .code = code_,
                  .endpoint_url = parts.endpoint_url,
                  .role_permissions = parts.role_permissions,
                  .role_id = parts.role_id,
                  .account_wide_keys = parts.config.function_key_scope == "account"}) {}

std::unique_ptr<Handlers> Handlers::make(Parts parts) {
  std::unique_ptr<Handlers> handlers(new Handlers(parts));
  handlers->open(parts);
  return handlers;
}

void Handlers::open(const Parts& parts) {
  functions_.forget_unused_code();
  runtime::InvokerOptions options{.scratch = scratch_.path() / "run",
                                  .processes_max = parts.config.function_processes_max,
                                  .warn = [](std::string line) { spdlog::warn("{}", line); }};
  using Sandbox = runtime::InvokerOptions::Sandbox;
  options.outgoing = parts.outgoing.functions;
  if (parts.config.sandbox == "off") options.sandbox = Sandbox::off;
  if (parts.config.sandbox == "required") options.sandbox = Sandbox::required;
  if (!parts.config.memory) {
    options.hidden.push_back(fs::absolute(parts.config.data));
    options.logs = fs::path(parts.config.data) / "function-logs";
    runtime::LogFiles(options.logs).keep_only(functions_.arns());
  }
  invoker_ = std::make_unique<runtime::LateInvoker>(
      std::move(options),
      runtime::LateInvoker::Hooks{
          .ready = [](std::string how) { spdlog::info("functions run {}", how); },
          .impossible = [](std::string why) { spdlog::error("functions cannot run: {}", why); }});
  auto measured = std::make_unique<monitor::MeasuredInvoker>(std::move(invoker_),
                                                             parts.observers.recorded->functions);
  measured_ = measured.get();
  invoker_ = std::move(measured);
  dispatcher_ = std::make_unique<dispatch::Dispatcher>(
      dispatch::Dispatcher::Parts{.engine = parts.engine,
                                  .invoker = *invoker_,
                                  .buckets = &parts.buckets,
                                  .definitions = [this] { return definitions(); },
                                  .measured = &parts.observers.recorded->functions,
                                  .outgoing = parts.outgoing.destinations},
      dispatch::Dispatcher::Hooks{.sync_wanted = parts.sync_wanted,
                                  .log = [](std::string line) { spdlog::error("{}", line); },
                                  .ran = parts.ran},
      dispatch::Dispatcher::Options{.processes_max = parts.config.function_processes_max,
                                    .wait_for_sync = !parts.config.memory});
  service_ = std::make_unique<lambda::Service>(lambda::Parts{
      .engine = parts.engine,
      .gate = parts.gate,
      .functions = functions_,
      .invoker = *invoker_,
      .buckets = &parts.buckets,
      .invoke_async = [this](const functions::FunctionId& function,
                             const runtime::Invocation& event) -> Result<void> {
        TRY(dispatcher_->invoke_async(function, event));
        return {};
      },
      .changed = [this] { reload(); },
      .observers = parts.observers,
      .is_engaged = [this](const std::string& mapping) { return dispatcher_->is_engaged(mapping); },
      .directories = parts.directories,
      .mask_rules = parts.config.mask_rules});
}

Handlers::~Handlers() {
  service_.reset();
  dispatcher_.reset();
  invoker_.reset();
}

void Handlers::stop(std::chrono::milliseconds patience) {
  dispatcher_->stop(patience);
}

Result<void> Handlers::invoke_async(const std::string& arn, const std::string& payload) {
  const auto deployed = TRY(functions_.find(arn));
  TRY(dispatcher_->invoke_async(deployed->function.id, {.payload = payload}));
  return {};
}

void Handlers::count_into(metrics::FunctionRegistry& registry) const {
  const dispatch::Dispatcher::Stats stats = dispatcher_->stats();
  for (const auto& [id, mapping] : stats.mappings) {
    const auto measured = registry.mappings.of(id);
    measured->polled.reach(mapping->polled);
    measured->filtered.reach(mapping->filtered_out);
    measured->invoked.reach(mapping->invoked);
    measured->failed.reach(mapping->failed);
    measured->deleted.reach(mapping->deleted);
    measured->dropped.reach(mapping->dead_lettered);
    measured->sent_on_failure.reach(mapping->sent_on_failure);
    measured->concurrency.set(mapping->running);
    measured->concurrency_limit.set(mapping->limit);
  }
  for (const auto& [id, gone] : registry.mappings.all()) {
    if (!stats.mappings.contains(id)) registry.mappings.forget(id);
  }
  measured_->count_cold_starts();
  const runtime::ProcessUse use = measured_->process_use();
  registry.processes.set(use.processes);
  registry.processes_max.set(use.processes_max);
  registry.process_waits.reach(use.waits);
}

// A definition that cannot be read or prepared is logged and skipped.
dispatch::Definitions Handlers::definitions() {
  const Documents documents = read_catalogue(engine_);
  dispatch::Definitions found;
  for (const std::string& document : documents.functions) {
    const auto function = functions::decode_function(document);
    if (!function) {
      complain("cannot read a function of the catalogue", function.error());
      continue;
    }
    const std::string arn = function->id.arn();
    const auto deployed = functions_.find(arn);
    if (!deployed) {
      complain(arn, deployed.error());
      continue;
    }
    dispatch::Definitions::Entry entry{.id = function->id,
                                       .spec = (*deployed)->spec,
                                       .config = {.function_arn = arn},
                                       .dead_letter_arn = function->dead_letter_arn};
    if (const auto config = documents.configs.find(arn); config != documents.configs.end()) {
      if (auto decoded = functions::decode_invoke_config(config->second)) entry.config = *decoded;
    }
    for (const std::string& qualifier : qualifiers_with_events(engine_, *function)) {
      dispatch::Definitions::Entry qualified = entry;
      qualified.id.name += ":" + qualifier;
      const std::string qualified_arn = qualified.id.arn();
      const auto version = functions_.find(qualified_arn);
      if (!version) continue;
      qualified.spec = (*version)->spec;
      qualified.config = {.function_arn = qualified_arn};
      const auto config = documents.configs.find(qualified_arn);
      if (config != documents.configs.end()) {
        if (auto decoded = functions::decode_invoke_config(config->second))
          qualified.config = *decoded;
      }
      found.functions.emplace(qualified_arn, std::move(qualified));
    }
    found.functions.emplace(arn, std::move(entry));
  }
  for (const std::string& document : documents.mappings) {
    if (auto mapping = functions::decode_mapping(document)) {
      const std::string& arn = mapping->function_arn;
      const bool qualified = lambda::without_qualifier(arn) != arn;
      if (const auto deployed = functions_.find(arn); qualified && deployed)
        found.versions.emplace(arn, (*deployed)->spec);
      found.mappings.push_back(*std::move(mapping));
    } else {
      complain("cannot read a mapping of the catalogue", mapping.error());
    }
  }
  return found;
}

}  // namespace redrive::app
