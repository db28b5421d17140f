#include "bench/beanstalk_client.h"

#include <fmt/format.h>

#include "base/text.h"

namespace redrive::bench {
namespace {

constexpr std::size_t kGreetingAnswers = 3;

std::string put_commands(const Task& task) {
  const std::string body = body_text(task.body_bytes);
  std::string out;
  for (int i = 0; i < task.batch; ++i) {
    out += fmt::format("put 0 0 600 {}\r\n{}\r\n", body.size(), body);
  }
  return out;
}

std::string receive_commands(const Task& task) {
  std::string out = fmt::format("reserve-with-timeout {}\r\n", task.wait_seconds);
  for (int i = 1; i < task.receive_batch; ++i) out += "reserve-with-timeout 0\r\n";
  return out;
}

}  // namespace

BeanstalkClient::BeanstalkClient(const Task& task)
    : task_(task), send_(put_commands(task)), receive_(receive_commands(task)) {}

Result<Progress> BeanstalkClient::greet(std::string& in, std::string& out) {
  if (!greeted_) {
    out += fmt::format("use {0}\r\nwatch {0}\r\nignore default\r\n", task_.queue);
    greeted_ = true;
    begin(Phase::idle, kGreetingAnswers);
    return Progress::under_way;
  }
  for (std::size_t end = in.find("\r\n"); awaited_ > 0 && end != std::string::npos;) {
    if (!in.starts_with("USING ") && !in.starts_with("WATCHING "))
      return unwelcome("beanstalkd", in);
    in.erase(0, end + 2);
    --awaited_;
    end = in.find("\r\n");
  }
  return awaited_ > 0 ? Progress::under_way : Progress::done;
}

void BeanstalkClient::begin(Phase phase, std::size_t answers) {
  phase_ = phase;
  awaited_ = answers;
}

void BeanstalkClient::send(std::string& out, Nanos sent) {
  begin(Phase::sending, static_cast<std::size_t>(task_.batch));
  send_.append_to(out, sent);
}

Progress BeanstalkClient::receive(std::string& out) {
  begin(Phase::receiving, static_cast<std::size_t>(task_.receive_batch));
  received_.clear();
  out += receive_;
  return Progress::under_way;
}

Progress BeanstalkClient::remove(std::string& out) {
  begin(Phase::removing, received_.size());
  for (const Arrival& message : received_) out += fmt::format("delete {}\r\n", message.handle);
  return Progress::under_way;
}

Result<Progress> BeanstalkClient::take(std::string& in, std::string&) {
  std::size_t taken = 0;
  while (awaited_ > 0) {
    const std::size_t size = TRY(take_one(std::string_view(in).substr(taken)));
    if (size == 0) break;
    taken += size;
    --awaited_;
  }
  in.erase(0, taken);
  if (phase_ == Phase::idle || awaited_ > 0) return Progress::under_way;
  phase_ = Phase::idle;
  return Progress::done;
}

Result<std::size_t> BeanstalkClient::take_one(std::string_view rest) {
  const std::size_t end = rest.find("\r\n");
  if (end == std::string_view::npos) return 0;
  const std::string_view line = rest.substr(0, end);
  const bool receives = phase_ == Phase::receiving;
  if (receives && line.starts_with("RESERVED ")) return take_reserved(rest, line);
  const bool expected = (receives && line == "TIMED_OUT") ||
                        (phase_ == Phase::sending && line.starts_with("INSERTED ")) ||
                        (phase_ == Phase::removing && line == "DELETED");
  if (!expected) return unwelcome("beanstalkd", line);
  return end + 2;
}

// RESERVED <id> <bytes>\r\n<body>\r\n
Result<std::size_t> BeanstalkClient::take_reserved(std::string_view rest, std::string_view line) {
  const auto words = split(line, ' ');
  const auto size = words.size() == 3 ? parse_int<std::size_t>(words[2]) : std::nullopt;
  if (!size) return unwelcome("beanstalkd", line);
  const std::size_t begin = line.size() + 2;
  if (rest.size() < begin + *size + 2) return 0;
  received_.push_back(
      {.handle = std::string(words[1]), .sent = stamp_of(rest.substr(begin, *size))});
  return begin + *size + 2;
}

}  // namespace redrive::bench
