#pragma once

#include <memory>
#include <vector>

#include "bench/actors.h"
#include "bench/load.h"
#include "bench/options.h"
#include "bench/sqs_client.h"

namespace redrive::bench {

// Who takes part in a run: the actors that the options ask for, and what they share. It outlives
// the loads they play in.
class Cast {
 public:
  // Makes the queues, where that is not left to the clients.
  static Result<std::unique_ptr<Cast>> make(const Options& options);

  std::vector<std::unique_ptr<Actor>> actors();
  // Opens `--idle-polls` and leaves them waiting; they wait as long as the result lives.
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
