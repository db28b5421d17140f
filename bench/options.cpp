#include "bench/options.h"

#include <CLI/CLI.hpp>
#include <map>
#include <vector>

#include "bench/stamped.h"

namespace redrive::bench {
namespace {

constexpr std::size_t kBodyBytesMax = 1u << 20;

const std::map<std::string, Mode> kModes = {
    {"send", Mode::send}, {"drain", Mode::drain}, {"e2e", Mode::e2e}, {"wake", Mode::wake}};
const std::map<std::string, Protocol> kProtocols = {{"sqs", Protocol::sqs},
                                                    {"redis", Protocol::redis},
                                                    {"beanstalk", Protocol::beanstalk},
                                                    {"nats", Protocol::nats},
                                                    {"amqp", Protocol::amqp}};
const std::map<std::string, Format> kFormats = {
    {"text", Format::text}, {"json", Format::json}, {"csv", Format::csv}};

// An option with named values.
template <class Value>
CLI::Option* add_named(CLI::App& app, const std::string& name,
                       const std::map<std::string, Value>& names, Value& place) {
  std::vector<std::string> all;
  for (const auto& [text, value] : names) all.push_back(text);
  return app
      .add_option_function<std::string>(
          name, [&names, &place](const std::string& text) { place = names.at(text); })
      ->check(CLI::IsMember(all));
}

void add_target(CLI::App& app, Options& options) {
  add_named(app, "--protocol", kProtocols, options.protocol)
      ->description("What the server speaks (default: sqs)");
  app.add_option("--host", options.endpoint.address, "IPv4 address of the server");
  app.add_option("--port", options.endpoint.port, "Its port");
  app.add_option("--queue", options.queue, "Queue to create and use");
  app.add_option("--queue-url", options.queue_url, "Use this URL and create nothing");
  app.add_option("--pid", options.server, "Process whose CPU time is counted, children included");
}

void add_load(CLI::App& app, Options& options) {
  app.add_option("--connections", options.connections, "Clients at once")
      ->check(CLI::Range(1, 10'000));
  app.add_option("--batch", options.batch, "Messages in one send")->check(CLI::Range(1, 10));
  app.add_option("--receive-batch", options.receive_batch, "Messages asked for in one receive")
      ->check(CLI::Range(1, 10));
  app.add_option("--size", options.body_bytes, "Bytes of a message body")
      ->check(CLI::Range(kStampDigits, kBodyBytesMax));
  app.add_option("--window", options.window, "e2e: messages sent and not yet deleted, at most")
      ->check(CLI::Range(10, 1'000'000));
  app.add_option("--wait", options.wait_seconds, "e2e: WaitTimeSeconds")->check(CLI::Range(0, 20));
  app.add_option("--seconds", options.seconds, "Time to run for")->check(CLI::Range(0.01, 3600.0));
  app.add_option("--count", options.count, "send, drain: stop after so many; wake: samples")
      ->check(CLI::NonNegativeNumber);
}

void add_curves(CLI::App& app, Options& options) {
  app.add_option("--queues", options.queues, "Send to so many queues in turn")
      ->check(CLI::Range(1, 100'000));
  app.add_option("--groups", options.groups, "Use a FIFO queue, with so many groups in turn")
      ->check(CLI::Range(0, 100'000));
  app.add_option("--idle-polls", options.idle_polls, "Long polls that wait while the load runs")
      ->check(CLI::Range(0, 50'000));
}

// Checks for options that only the SQS protocol supports.
bool is_possible(const Options& options) {
  const bool plain = options.mode != Mode::wake && options.queues == 1 && options.groups == 0 &&
                     options.idle_polls == 0 && options.queue_url.empty();
  return options.protocol == Protocol::sqs || plain;
}

void add_report(CLI::App& app, Options& options) {
  app.add_option("--core", options.core, "Core to run on")->check(CLI::Range(0, 1023));
  add_named(app, "--format", kFormats, options.format)->description("How to report");
  app.add_option("--label", options.label, "What is being measured");
  app.add_option("--commit", options.commit, "Which commit of it");
}

}  // namespace

Parsed parse_options(int argc, const char* const* argv) {
  Parsed parsed;
  CLI::App app(
      "Load for a message queue, by the Amazon SQS JSON protocol or its own: one thread, kept "
      "connections.");
  app.option_defaults()->always_capture_default();
  add_named(app, "mode", kModes, parsed.options.mode)->required()->description("What to ask");
  add_target(app, parsed.options);
  add_load(app, parsed.options);
  add_curves(app, parsed.options);
  add_report(app, parsed.options);
  try {
    app.parse(argc, argv);
    if (!is_possible(parsed.options)) throw CLI::ValidationError("--protocol", "is not for that");
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = app.exit(error) == 0 ? 0 : 2;
  }
  return parsed;
}

const char* name_of(Mode mode) {
  for (const auto& [name, value] : kModes) {
    if (value == mode) return name.c_str();
  }
  return "";
}

}  // namespace redrive::bench
