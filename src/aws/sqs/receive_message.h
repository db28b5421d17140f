#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aws/sqs/call.h"
#include "aws/sqs/model/messages.h"
#include "base/result.h"
#include "core/engine/engine.h"

// ReceiveMessage can be answered later, so it has two parts: plan_receive and ReceivedBatch.

namespace redrive::sqs {

// The attributes that a receive requested, kept while it waits.
struct ReceiveView {
  std::uint32_t system_attributes = 0;  // A bit for each of kSystemAttributes.
  bool all_attributes = false;
  std::vector<std::string> attribute_names;  // Exact names, and prefixes that end in '*'.
};

struct ReceivePlan {
  queue::QueueIdentity queue;
  engine::ReceiveRequest request;
  std::optional<Duration> wait;  // Absent: that of the queue.
  ReceiveView view;
};

Result<ReceivePlan> plan_receive(const Call& call, const ReceiveMessageInput& input);

// The answer and everything it points at.
class ReceivedBatch {
 public:
  // Reads the bodies. Messages that cannot be read are omitted: damaged ones are moved to a
  // hidden queue, the others are listed in faults().
  ReceivedBatch(engine::Engine& engine, const engine::ReceiveOutcome& outcome,
                const ReceiveView& view, const std::array<std::uint8_t, 16>& secret);
  const ReceiveMessageOutput& output() const { return output_; }
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  void read_again(engine::Engine& engine, const engine::Received& received,
                  const ReceiveView& view);
  void describe(const engine::Received& received, const store::StoredMessage& stored,
                const ReceiveView& view);
  std::string_view keep(std::string text) {
    return *kept_.emplace_back(std::make_unique<std::string>(std::move(text)));
  }

  ReceiveMessageOutput output_;
  std::vector<std::string> faults_;
  std::unique_ptr<char[]> bytes_;
  std::vector<std::unique_ptr<std::string>> kept_;
  const std::array<std::uint8_t, 16>& secret_;
};

std::string sequence_text(std::uint64_t sequence);  // 20 digits.

}  // namespace redrive::sqs
