#include "core/store/check_messages.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/store/store.h"

namespace redrive::store {
namespace {

constexpr std::size_t kNamedMax = 1'000;

std::string file_name(std::uint32_t segment) {
  return fmt::format("{:010}.seg", segment);
}

class MessageCheck {
 public:
  explicit MessageCheck(journal::Files& files) : files_(files) {}

  Result<journal::CheckReport> run() {
    RETURN_IF_ERROR(replay());
    for (const queue::Slot slot : by_place()) look_at(slot);
    if (damaged_ > kNamedMax) {
      report_.lines.push_back(fmt::format("and {} more damaged messages", damaged_ - kNamedMax));
    }
    report_.lines.push_back(fmt::format("{} messages, {} damaged", messages_, damaged_));
    report_.healthy = damaged_ == 0;
    return std::move(report_);
  }

  Result<FoundMessages> find() {
    RETURN_IF_ERROR(replay());
    FoundMessages found;
    for (const queue::Slot slot : by_place()) {
      const queue::Message& message = state().messages()[slot];
      found.all.insert(message.key);
      std::string wrong = what_is_wrong(message);
      if (wrong.empty()) continue;
      found.damaged.push_back(
          {.key = message.key, .body = message.body, .error = std::move(wrong)});
    }
    return found;
  }

  Result<std::set<std::uint32_t>> missing() {
    RETURN_IF_ERROR(replay());
    const auto names = TRY(files_.list());
    std::set<std::uint32_t> needed;
    for (const queue::Slot slot : by_place()) {
      needed.insert(state().messages()[slot].body.segment);
    }
    std::erase_if(needed, [&](std::uint32_t segment) {
      return std::ranges::find(names, file_name(segment)) != names.end();
    });
    return needed;
  }

 private:
  // Bytes of messages that had expired by the last record's time may have been recycled.
  Result<void> replay() {
    const auto one = [&](journal::Sequence, journal::Location at, std::string_view payload) {
      return store_.replay(at, payload);
    };
    TRY(journal::replay_journal(files_, one, explain_damage));
    state().advance_all(store_.last_stamp().now);
    while (state().bury(SIZE_MAX)) {
    }
    return {};
  }

  std::vector<queue::Slot> by_place() {
    std::vector<queue::Slot> slots;
    const queue::MessageTable& table = state().messages();
    for (queue::Slot slot = 0; slot < table.end(); ++slot) {
      if (table[slot].key != queue::MessageKey::none) slots.push_back(slot);
    }
    std::ranges::sort(slots, {}, [&](queue::Slot slot) {
      const queue::BodyRef& body = table[slot].body;
      return std::pair(body.segment, body.offset);
    });
    return slots;
  }

  void look_at(queue::Slot slot) {
    const queue::Message& message = state().messages()[slot];
    ++messages_;
    const std::string wrong = what_is_wrong(message);
    if (wrong.empty() || ++damaged_ > kNamedMax) return;
    const queue::QueueIdentity& queue = state().find(state().queue_of(slot))->identity;
    const std::string name = queue.name.substr(0, queue.name.find('!'));
    report_.lines.push_back(
        fmt::format("{} at byte {}: message {} of {}, {} bytes, is damaged{}: {}",
                    files_.path(file_name(message.body.segment)),
                    message.body.offset,
                    number(message.key),
                    name,
                    message.body.size,
                    queue.is_damaged() ? " and has been set aside" : "",
                    wrong));
  }

  // Empty if the message is intact.
  std::string what_is_wrong(const queue::Message& message) {
    if (segment_ != message.body.segment) {
      segment_ = message.body.segment;
      file_ = files_.open(file_name(segment_));
    }
    if (!file_) return file_.error().message;
    std::string bytes(message.body.size, '\0');
    const auto got = (*file_)->read(message.body.offset, bytes.data(), bytes.size());
    if (!got) return got.error().message;
    if (*got < bytes.size()) return "the file ends before it does";
    const auto stored = decode_message(bytes);
    if (!stored) return "its bytes do not match their checksum";
    return stored->key == message.key ? "" : "the bytes of another message are in its place";
  }

  queue::State& state() { return store_.state(); }

  journal::Files& files_;
  Store store_;
  journal::CheckReport report_;
  std::size_t messages_ = 0;
  std::size_t damaged_ = 0;
  std::uint32_t segment_ = 0;
  Result<std::unique_ptr<journal::File>> file_;
};

}  // namespace

Result<journal::CheckReport> check_messages(journal::Files& files) {
  return MessageCheck(files).run();
}

Result<FoundMessages> find_messages(journal::Files& files) {
  return MessageCheck(files).find();
}

Result<std::set<std::uint32_t>> missing_segments(journal::Files& files) {
  return MessageCheck(files).missing();
}

}  // namespace redrive::store
