#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "aws/sqs/call.h"
#include "aws/sqs/receive_message.h"
#include "core/engine/engine.h"
#include "front/gate.h"
#include "front/request_telemetry.h"
#include "net/http/server.h"

namespace redrive::sqs {

// The SQS API: determines protocol and action, decodes, runs, encodes. Everything runs on the I/O
// thread of the connection, except for lists of queues (Hooks::offload); later answers are posted
// to it.
class Service {
 public:
  struct Hooks {
    std::function<void(std::string)>
        log;                      // For server errors, such as a message that cannot be read.
    std::function<bool()> ready;  // Whether the server accepts requests: /ready.
    std::function<std::string_view()> disk = {};  // "ok", "low" or "full", for /ready.
    front::Observers observers = {};
    // Called with messages before they are returned to a consumer.
    std::function<void(const queue::QueueIdentity&, const engine::ReceiveOutcome&)> received = {};
    // Runs a handler on the offload pool; false: the pool is full. Empty: everything runs on the
    // I/O thread.
    std::function<bool(http::Exchange&, std::function<void(http::Exchange&)>)> offload = {};
  };
  Service(engine::Engine& engine, const front::Gate& gate, ServiceOptions options, Hooks hooks);

  // Must be called before the first request.
  void attach(http::Server& server) { server_ = &server; }
  void handle(http::Exchange& exchange);
  // For Server::Hooks::answer_gathered.
  void send_gathered();

 private:
  struct Reply;
  struct Request;
  struct Gathering;
  struct Gatherings;
  template <class Action>
  static void answer(Service& service, Request& request);
  template <class Action>
  void offload(Request& request);
  template <class Action>
  void audit(Request& request, const typename Action::Input& input, const Error* error);
  static Gatherings& gatherings();
  void send(Request& request, const SendMessageInput& input);
  void wait_for_messages(Request& request, ReceivePlan plan);
  void give_back(const queue::QueueIdentity& queue, const engine::ReceiveOutcome& outcome);
  void write_received(std::string& out, const Reply& reply, const engine::ReceiveOutcome& outcome,
                      const ReceivePlan& plan);
  bool serve_page(http::Exchange& exchange);
  void serve_query(Request& request);
  void serve_json(Request& request);
  void run_action(Request& request, std::string_view name);

  engine::Engine& engine_;
  const front::Gate& gate_;
  ServiceOptions options_;
  Hooks hooks_;
  const front::RequestTelemetry telemetry_;
  http::Server* server_ = nullptr;
  std::array<std::uint8_t, 16> secret_;
  std::atomic<std::size_t> waiting_ = 0;  // Waiting receives.
};

}  // namespace redrive::sqs
