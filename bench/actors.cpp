#include "bench/actors.h"

namespace redrive::bench {

Step Producer::next(std::string& out) {
  if (limits_.count > 0 && tally_.started >= limits_.count) return Step::done;
  const std::int64_t unfinished = tally_.started - tally_.deleted;
  if (limits_.window > 0 && unfinished + limits_.batch > limits_.window) return Step::pause;
  tally_.started += limits_.batch;
  began_ = now();
  client().send(out, began_);
  return Step::request;
}

void Producer::finished() {
  ++tally_.requests;
  tally_.sent += limits_.batch;
  if (limits_.window == 0) tally_.latencies.add(now() - began_);
}

Step Consumer::next(std::string& out) {
  while (!saw_empty_ || until_ != Until::empty) {
    if (begin(out) == Progress::under_way) return Step::request;
    finished();
  }
  return Step::done;
}

Progress Consumer::begin(std::string& out) {
  if (turn_ == Turn::remove) return client().remove(out);
  began_ = now();
  return client().receive(out);
}

void Consumer::finished() {
  ++tally_.requests;
  turn_ == Turn::receive ? note_received() : note_removed();
}

void Consumer::note_received() {
  saw_empty_ = client().received().empty();
  if (saw_empty_) {
    ++tally_.empty_receives;
    return;
  }
  turn_ = Turn::remove;
  if (until_ == Until::empty) return;
  const Nanos arrived = now();
  for (const Arrival& message : client().received()) {
    if (message.sent) tally_.latencies.add(arrived - *message.sent);
  }
}

void Consumer::note_removed() {
  turn_ = Turn::receive;
  tally_.deleted += static_cast<std::int64_t>(client().received().size());
  if (until_ == Until::empty) tally_.latencies.add(now() - began_);
}

}  // namespace redrive::bench
