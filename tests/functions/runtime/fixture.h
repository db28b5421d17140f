#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>

#include "functions/runtime/invoker.h"

#include "base/file_system.h"

namespace redrive::runtime {

// A real invoker with real processes. Handlers are copied to a place readable by any user.
class InvokerTest : public testing::Test {
 protected:
  static constexpr std::chrono::seconds kPatience{60};

  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "redrive-runtime-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    ::chmod(root_.c_str(), 0755);
    std::filesystem::copy(
        REDRIVE_HANDLERS, root_ / "handlers", std::filesystem::copy_options::recursive);
    options_.scratch = root_ / "scratch";
    options_.hidden = {root_ / "secret"};
    std::filesystem::create_directory(root_ / "secret");
    std::ofstream(root_ / "secret" / "journal") << "secret";
  }

  void TearDown() override {
    invoker_.reset();
    std::filesystem::remove_all(root_);
  }

  Invoker& invoker() {
    if (!invoker_) {
      auto made = make_invoker(options_);
      EXPECT_TRUE(made) << (made ? "" : made.error().message);
      invoker_ = std::move(*made);
    }
    return *invoker_;
  }

  FunctionSpec python(const std::string& handler) const {
    return {.arn = "arn:aws:lambda:us-east-1:000000000000:function:orders",
            .name = "orders",
            .runtime = "python3.11",
            .handler = handler,
            .code = root_ / "handlers/python",
            .revision = handler,
            .timeout = std::chrono::seconds(20),
            .memory_mb = 256,
            .region = "us-east-1"};
  }
  FunctionSpec node(const std::string& handler) const {
    FunctionSpec function = python(handler);
    function.runtime = "nodejs20.x";
    function.code = root_ / "handlers/node";
    return function;
  }
  FunctionSpec command(const std::string& word) const {
    FunctionSpec function = python("");
    function.runtime = "command";
    function.code = root_ / "handlers/shell";
    function.command = {word};
    return function;
  }

  std::future<Outcome> begin(const FunctionSpec& function, const Payload& payload) {
    auto promise = std::make_shared<std::promise<Outcome>>();
    auto result = promise->get_future();
    Invocation what{.request_id = "id-" + std::to_string(++last_id_), .payload = payload};
    what.trace = trace_;
    what.client_context = client_context_;
    what.invoked_arn = invoked_arn_;
    what.lane = lane_;
    invoker().invoke(std::make_shared<FunctionSpec>(function),
                     std::move(what),
                     [promise](Outcome outcome) { promise->set_value(std::move(outcome)); });
    return result;
  }

  static Outcome get(std::future<Outcome>& future) {
    if (future.wait_for(kPatience) != std::future_status::ready) {
      ADD_FAILURE() << "no outcome";
      return {};
    }
    return future.get();
  }

  Outcome run(const FunctionSpec& function, const Payload& payload = "{}") {
    auto future = begin(function, payload);
    return get(future);
  }

  // Whether any process runs `sleep seconds`.
  // Whether the command line of any process of this machine satisfies `matches`.
  template <class Matches>
  static bool any_process(Matches matches) {
    bool found = false;
    for_each_entry("/proc", [&](const std::filesystem::directory_entry& process) {
      const auto line = read_file(process.path() / "cmdline");
      found = found || (line && matches(*line));
    });
    return found;
  }

  static bool is_sleeping(const std::string& seconds) {
    const std::string wanted = std::string("sleep") + '\0' + seconds + '\0';
    return any_process([&](const std::string& line) { return line == wanted; });
  }

  std::filesystem::path root_;
  InvokerOptions options_;
  std::unique_ptr<Invoker> invoker_;
  int last_id_ = 0;
  std::string trace_;
  std::string client_context_;
  std::string invoked_arn_;
  std::shared_ptr<Lane> lane_;  // For new invocations; null: none.
};

// A field of a JSON object as text; strings without their quotes.
inline std::string field(const std::string& json, std::string_view name) {
  simdjson::dom::parser parser;
  simdjson::dom::element value;
  if (parser.parse(json).at_key(name).get(value) != simdjson::SUCCESS) return "<missing>";
  std::string_view text;
  return value.get(text) == simdjson::SUCCESS ? std::string(text) : simdjson::minify(value);
}

}  // namespace redrive::runtime
