#pragma once

#include <memory>
#include <vector>

#include "bench/actors.h"
#include "bench/load.h"
#include "bench/options.h"
#include "bench/sqs_client.h"

namespace redrive::bench {

// The actors requested by the options, and what they share. Must outlive the loads they are used
// in.
class Cast {
 public:
  // Creates the queues, unless the clients do so themselves.
  static Result<std::unique_ptr<Cast>> make(const Options& options);

  std::vector<std::unique_ptr<Actor>> actors();
  // Opens `--idle-polls` long polls; they wait as long as the result lives.
  Result<std::unique_ptr<Load>> wait_in_long_polls();
  const Tally& tally() const { return tally_; }

 private:
  explicit Cast(const Options& options) : options_(options) {}
  Result<void> prepare_sqs();
  std::unique_ptr<Actor> actor(int number);
  std::unique_ptr<Client> client(const Task& task);

  const Options options_;
  SqsTarget sqs_;
  SqsTarget idle_;
  Tally tally_;
  Tally idle_tally_;
};

}  // namespace redrive::bench
