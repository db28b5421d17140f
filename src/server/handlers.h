#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "api/gate.h"
#include "dispatch/dispatcher.h"
#include "engine/engine.h"
#include "http/server.h"
#include "lambda/functions.h"
#include "lambda/service.h"
#include "objects/store.h"
#include "runtime/invoker.h"

namespace redrive::server {

// Everything about functions, joined: their API, what runs them, what feeds them.
class Handlers {
 public:
  struct Parts {
    engine::Engine& engine;
    api::Gate& gate;
    objects::Store& buckets;
    std::filesystem::path data;  // Empty: what is deployed goes with the process.
    bool directories = false;    // Functions may run from directories that callers name.
    std::function<void()> sync_wanted;
    std::function<void(std::string)> audit;
    std::function<void(std::string)> log;
  };
  static Result<std::unique_ptr<Handlers>> make(Parts parts);
  ~Handlers();

  // Before the first request. Handlers find the server at `url`.
  void attach(http::Server& server, std::string url);
  lambda::Service& api() { return *api_; }
  dispatch::Dispatcher& dispatcher() { return *dispatcher_; }
  runtime::Invoker& invoker() { return *invoker_; }
  lambda::Functions& functions() { return *functions_; }

  // What runs may come to its end, for so long at most; nothing new begins. Then `finish`, after
  // the server has drained and before it goes.
  void stop(std::chrono::milliseconds patience);
  void finish();

 private:
  explicit Handlers(Parts parts) : parts_(std::move(parts)) {}
  dispatch::Definitions definitions() const;

  const Parts parts_;
  std::string url_;
  std::filesystem::path scratch_;
  std::unique_ptr<lambda::CodeStore> code_;
  std::unique_ptr<lambda::Functions> functions_;
  std::unique_ptr<runtime::Invoker> invoker_;
  std::unique_ptr<dispatch::Dispatcher> dispatcher_;
  std::unique_ptr<lambda::Service> api_;
};

}  // namespace redrive::server
