#include "bench/redis_client.h"

#include <vector>

namespace redrive::bench {
namespace {

constexpr std::string_view kGroup = "g";

std::string add_commands(const Task& task) {
  std::string out;
  const std::string body = body_text(task.body_bytes);
  for (int i = 0; i < task.batch; ++i) append_command(out, {"XADD", task.queue, "*", "b", body});
  return out;
}

std::string receive_command(const Task& task) {
  const std::string name = "c" + std::to_string(task.number);
  const std::string count = std::to_string(task.receive_batch);
  const std::string wait = std::to_string(task.wait_seconds * 1000);
  std::vector<std::string_view> words = {"XREADGROUP", "GROUP", kGroup, name, "COUNT", count};
  if (task.wait_seconds > 0) words.insert(words.end(), {"BLOCK", wait});
  words.insert(words.end(), {"STREAMS", task.queue, ">"});
  std::string out;
  append_command(out, words);
  return out;
}

}  // namespace

RedisClient::RedisClient(const Task& task)
    : task_(task), send_(add_commands(task)), receive_(receive_command(task)) {}

Result<Progress> RedisClient::greet(std::string& in, std::string& out) {
  if (!greeted_) {
    append_command(out, {"XGROUP", "CREATE", task_.queue, kGroup, "0", "MKSTREAM"});
    greeted_ = true;
    return Progress::under_way;
  }
  const auto reply = TRY(parse_resp(in));
  if (!reply) return Progress::under_way;
  // The first client creates the group.
  if (!reply->error.empty() && !reply->error.starts_with("BUSYGROUP"))
    return unwelcome("Redis", reply->error);
  in.erase(0, reply->size);
  return Progress::done;
}

void RedisClient::begin(Phase phase, int answers) {
  phase_ = phase;
  awaited_ = answers;
}

void RedisClient::send(std::string& out, Nanos sent) {
  begin(Phase::sending, task_.batch);
  send_.append_to(out, sent);
}

Progress RedisClient::receive(std::string& out) {
  begin(Phase::receiving, 1);
  received_.clear();
  out += receive_;
  return Progress::under_way;
}

Progress RedisClient::remove(std::string& out) {
  begin(Phase::removing, 2);
  std::vector<std::string_view> words = {"XACK", task_.queue, kGroup};
  for (const Arrival& message : received_) words.push_back(message.handle);
  append_command(out, words);
  words.erase(words.begin() + 2);
  words[0] = "XDEL";
  append_command(out, words);
  return Progress::under_way;
}

Result<Progress> RedisClient::take(std::string& in, std::string&) {
  std::size_t taken = 0;
  while (awaited_ > 0) {
    const auto reply = TRY(parse_resp(std::string_view(in).substr(taken)));
    if (!reply) break;
    if (!reply->error.empty()) return unwelcome("Redis", reply->error);
    if (phase_ == Phase::receiving) note_messages(*reply);
    taken += reply->size;
    --awaited_;
  }
  in.erase(0, taken);
  if (phase_ == Phase::idle || awaited_ > 0) return Progress::under_way;
  phase_ = Phase::idle;
  return Progress::done;
}

// Flat: the stream's name, then for each message its id, the field's name, the field.
void RedisClient::note_messages(const RespReply& reply) {
  for (std::size_t i = 1; i + 2 < reply.texts.size(); i += 3) {
    received_.push_back(
        {.handle = std::string(reply.texts[i]), .sent = stamp_of(reply.texts[i + 2])});
  }
}

}  // namespace redrive::bench
