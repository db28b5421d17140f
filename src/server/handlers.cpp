#include "server/handlers.h"

#include <fmt/format.h>

#include <utility>

#include "base/ids.h"
#include "functions/codec.h"

namespace redrive::server {
namespace {

namespace fs = std::filesystem;

using queue::EntryKind;

fs::path passing_directory(std::string_view purpose) {
  RandomIds ids;
  return fs::temp_directory_path() / fmt::format("redrive-{}-{}", purpose, ids.uuid().text());
}

}  // namespace

Result<std::unique_ptr<Handlers>> Handlers::make(Parts given) {
  std::unique_ptr<Handlers> made(new Handlers(std::move(given)));
  const Parts& parts = made->parts_;
  const bool passing = parts.data.empty();
  made->scratch_ = passing_directory("run");
  made->code_ = std::make_unique<lambda::CodeStore>(lambda::CodeStore::Options{
      .root = passing ? passing_directory("functions") : parts.data / "functions",
      .sync = passing ? objects::Sync::no : objects::Sync::yes,
      .passing = passing});
  made->functions_ = std::make_unique<lambda::Functions>(
      lambda::Functions::Parts{.engine = parts.engine,
                               .gate = parts.gate,
                               .code = *made->code_,
                               .endpoint_url = [self = made.get()] { return self->url_; }});
  made->functions_->forget_unused_code();
  runtime::InvokerOptions options{.scratch = made->scratch_};
  if (!passing) options.hidden.push_back(parts.data);
  made->invoker_ = TRY(runtime::make_invoker(std::move(options)));
  made->dispatcher_ = std::make_unique<dispatch::Dispatcher>(
      dispatch::Dispatcher::Parts{
          .engine = parts.engine,
          .invoker = *made->invoker_,
          .buckets = &parts.buckets,
          .definitions = [self = made.get()] { return self->definitions(); }},
      dispatch::Dispatcher::Hooks{.sync_wanted = parts.sync_wanted, .log = parts.log},
      dispatch::Dispatcher::Options{});
  dispatch::Dispatcher& dispatcher = *made->dispatcher_;
  made->api_ = std::make_unique<lambda::Service>(lambda::Parts{
      .engine = parts.engine,
      .gate = parts.gate,
      .functions = *made->functions_,
      .invoker = *made->invoker_,
      .buckets = &parts.buckets,
      .invoke_async = [&dispatcher](const functions::FunctionId& function,
                                    const runtime::Invocation& event) -> Result<void> {
        TRY(dispatcher.invoke_async(function, event));
        return {};
      },
      .changed = [&dispatcher] { dispatcher.reload(); },
      .audit = parts.audit,
      .directories = parts.directories});
  return made;
}

Handlers::~Handlers() {
  api_.reset();
  dispatcher_.reset();
  invoker_.reset();
  std::error_code ignored;
  fs::remove_all(scratch_, ignored);
}

void Handlers::attach(http::Server& server, std::string url) {
  url_ = std::move(url);
  api_->attach(server);
  dispatcher_->reload();
}

void Handlers::stop(std::chrono::milliseconds patience) {
  dispatcher_->stop(patience);
}

void Handlers::finish() {
  api_->stop();
}

dispatch::Definitions Handlers::definitions() const {
  dispatch::Definitions out;
  for (const auto& deployed : functions_->all()) {
    const std::string arn = deployed->function.id.arn();
    out.functions[arn] = {.id = deployed->function.id,
                          .spec = deployed->spec,
                          .config = {.function_arn = arn},
                          .dead_letter_arn = deployed->function.dead_letter_arn};
  }
  parts_.engine.turn([&](engine::Turn& turn) {
    for (const auto& [key, document] : turn.state().entries()) {
      if (key.first == EntryKind::mapping) {
        if (auto mapping = functions::decode_mapping(document)) out.mappings.push_back(*mapping);
      }
      const auto owner = out.functions.find(key.second);
      if (key.first != EntryKind::invoke_config || owner == out.functions.end()) continue;
      if (auto config = functions::decode_invoke_config(document)) owner->second.config = *config;
    }
  });
  return out;
}

}  // namespace redrive::server
