// Reads messages in their queues without changing them.

#include <fmt/format.h>

#include <algorithm>

#include "base/calendar.h"
#include "base/text.h"
#include "core/store/message_codec.h"
#include "dead_letters/triage/filter.h"
#include "dead_letters/view/stored_view.h"
#include "manage/lineage.h"
#include "manage/operations.h"

namespace redrive::manage {

using queue::Mailbox;

std::string token_of(const Mailbox::AgeMark& mark) {
  return fmt::format("{}-{}", mark.sent_at.ms(), number(mark.key));
}

Result<Mailbox::AgeMark> mark_of(std::string_view token, bool newest_first) {
  if (token.empty()) return dead_letters::Peek::start_of(newest_first);
  const auto parts = split(token, '-');
  const auto sent = parts.size() == 2 ? parse_int<std::int64_t>(parts[0]) : std::nullopt;
  const auto key = parts.size() == 2 ? parse_int<std::uint64_t>(parts[1]) : std::nullopt;
  if (!sent || !key)
    return fail(ErrorCode::invalid_parameter_value, "`after` must be the `next` of a page.");
  return Mailbox::AgeMark{Timestamp(*sent), static_cast<queue::MessageKey>(*key)};
}

namespace {

constexpr std::size_t kPageMessages = 100;
constexpr std::size_t kPageMessagesMax = 1'000;
// A page ends early at this many bytes of bodies.
constexpr std::size_t kPageBytesMax = 8u << 20;
// A search ends after this much, with a place to continue: it runs on a thread that other requests
// wait for.
constexpr std::size_t kSearchMessagesMax = 5'000;
constexpr std::size_t kSearchBytesMax = 16u << 20;
// The same for messages that are passed over without reading them.
constexpr std::size_t kScannedMax = 2'000'000;
// Per turn of the engine, because nothing else runs meanwhile.
constexpr std::size_t kSearchPieceMessages = 250;

std::string_view state_name(queue::Phase phase) {
  switch (phase) {
    case queue::Phase::visible:
      return "visible";
    case queue::Phase::in_flight:
      return "in-flight";
    case queue::Phase::delayed:
      return "delayed";
  }
  return "visible";
}

std::optional<std::string_view> if_any(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return text;
}

// Writes a page of messages. The call keeps the texts that the page refers to.
class PageWriter {
 public:
  PageWriter(Call& call, std::size_t messages_max, const triage::Filter* filter,
             bool chooses = false)
      : call_(call), messages_max_(messages_max), filter_(filter), chooses_(chooses) {}

  // The next `max` messages after a place.
  using Fetch = std::function<Result<dead_letters::PeekPage>(const Mailbox::AgeMark&, std::size_t)>;

  // Continues after that place until the page is full or the search limit is reached.
  Result<documents::MessagePage> write(Mailbox::AgeMark after, const Fetch& fetch) {
    last_ = after;
    bool more = true;
    while (more && !done() && !call_.context.is_abandoned()) {
      const dead_letters::PeekPage page = TRY(fetch(last_, piece_size()));
      wall_ = page.wall;
      more = TRY(take(page));
      out_.total = static_cast<std::int64_t>(page.total);
    }
    out_.now = time(wall_);
    if (filter_ != nullptr || chooses_) out_.scanned = static_cast<std::int64_t>(scanned_);
    if (more) out_.next = call_.keep(token_of(last_));
    return std::move(out_);
  }

  // One message as a page shows it. Views `stored`.
  documents::Message describe(const dead_letters::Peeked& peeked,
                              const store::StoredMessage& stored, Timestamp wall) {
    wall_ = wall;
    return message(peeked, stored);
  }

 private:
  bool done() const {
    return full_ || out_.messages.size() >= messages_max_ || read_ >= kSearchMessagesMax ||
           read_bytes_ >= kSearchBytesMax || scanned_ >= kScannedMax;
  }

  std::size_t piece_size() const {
    return filter_ != nullptr || chooses_ ? kSearchPieceMessages
                                          : std::min(messages_max_, kSearchPieceMessages);
  }

  // Whether there is more after the last message that was read.
  Result<bool> take(const dead_letters::PeekPage& page) {
    for (const dead_letters::Peeked& peeked : page.messages) {
      full_ = kept_bytes_ + peeked.body.size > kPageBytesMax && !out_.messages.empty();
      if (done()) return true;
      RETURN_IF_ERROR(look_at(peeked));
      ++read_;
      read_bytes_ += peeked.body.size;
      last_ = peeked.mark;
    }
    scanned_ += page.scanned;
    last_ = page.last;
    return page.more;
  }

  // A damaged message is skipped: it is set aside now, or when the consumer that holds it releases
  // it.
  Result<void> look_at(const dead_letters::Peeked& peeked) {
    std::string bytes;
    const auto stored = call_.parts.engine.read_message(peeked.mark.key, peeked.body, bytes);
    if (!stored && stored.error().code == ErrorCode::storage_damaged) return {};
    RETURN_IF_ERROR(stored);
    if (filter_ != nullptr &&
        !filter_->matches(dead_letters::StoredView(*stored).subject(peeked))) {
      return {};
    }
    kept_bytes_ += bytes.size();
    out_.messages.push_back(message(peeked, *store::decode_message(call_.keep(std::move(bytes)))));
    return {};
  }

  std::string_view time(Timestamp wall) { return call_.keep(format_utc(wall)); }

  documents::Message message(const dead_letters::Peeked& peeked,
                             const store::StoredMessage& stored) {
    documents::Message out{.key = static_cast<std::int64_t>(number(peeked.mark.key)),
                           .message_id = stored.message_id,
                           .lineage_id = stored.message_id,
                           .state = state_name(peeked.phase),
                           .sent_at = time(stored.sent_wall),
                           .expires_at = time(peeked.expires_wall),
                           .receive_count = peeked.receive_count,
                           .sender_id = if_any(stored.contents.sender),
                           .group_id = if_any(stored.contents.group),
                           .deduplication_id = if_any(stored.contents.dedup),
                           .trace_header = if_any(stored.contents.trace),
                           .dead_letter_source = if_any(call_.keep(peeked.dead_letter_source)),
                           .origin = if_any(call_.keep(peeked.origin)),
                           .body = stored.contents.body};
    if (peeked.phase != queue::Phase::visible) {
      out.visible_at = time(wall_ + peeked.visible_in);
    }
    out.attributes = attributes_of(stored.contents);
    if (peeked.history) add_history(out, peeked);
    return out;
  }

  void add_history(documents::Message& out, const dead_letters::Peeked& peeked) {
    const queue::History& history = *peeked.history;
    if (history.message_id) out.message_id = *history.message_id;
    if (history.sent_wall != Timestamp()) out.sent_at = time(history.sent_wall);
    if (history.first_received_wall != Timestamp()) {
      out.first_received_at = time(history.first_received_wall);
    }
    out.redrives = history.redrives;
    out.attempts_total = history.attempts_total;
    const Keep keep = [this](std::string text) { return call_.keep(std::move(text)); };
    out.attempts = attempts_of(peeked, keep);
    out.events = events_of(peeked, keep);
    out.failure_group = call_.keep(peeked.failure_group);
    out.failed_again = peeked.failed_again;
    out.parked = peeked.parked;
  }

  Call& call_;
  const std::size_t messages_max_;
  const triage::Filter* const filter_;  // Null: every message matches.
  const bool chooses_;                  // Pages leave messages out.
  documents::MessagePage out_;
  Mailbox::AgeMark last_{};  // The last message read.
  Timestamp wall_;
  std::size_t scanned_ = 0;
  std::size_t read_ = 0;
  std::size_t read_bytes_ = 0;
  std::size_t kept_bytes_ = 0;
  bool full_ = false;
};

// Where a page begins: after `after`, or at the position `at`.
Result<Mailbox::AgeMark> place_of(Call& call, const dead_letters::PeekChoice& choice) {
  const std::string at = call.query("at");
  if (at.empty()) return mark_of(call.query("after"), choice.newest_first);
  const auto position = parse_int<std::size_t>(at);
  if (!position || !call.query("after").empty() || !call.query("filter").empty()) {
    return fail(ErrorCode::invalid_parameter_value,
                "`at` must be a position from 0 on, without `after` and `filter`.");
  }
  return call.parts.dead_letters.peek.place_of(
      call.queue("queue"), *position, choice, call.context.is_abandoned);
}

// A page as the query string requests it.
Result<documents::MessagePage> write_page(Call& call, const PageWriter::Fetch& fetch,
                                          const dead_letters::PeekChoice& choice = {}) {
  const Mailbox::AgeMark after = TRY(place_of(call, choice));
  const std::size_t max = TRY(call.query_number("limit", kPageMessages, kPageMessagesMax));
  const bool chooses = !choice.takes_all();
  const std::string text = call.query("filter");
  if (text.empty()) return PageWriter(call, max, nullptr, chooses).write(after, fetch);
  const triage::Filter filter = TRY(triage::Filter::parse(text));
  return PageWriter(call, max, &filter, chooses).write(after, fetch);
}

Result<std::optional<queue::Phase>> phase_of(const std::string& name) {
  using queue::Phase;
  if (name.empty()) return std::nullopt;
  for (const Phase phase : {Phase::visible, Phase::in_flight, Phase::delayed}) {
    if (name == state_name(phase)) return phase;
  }
  return fail(ErrorCode::invalid_parameter_value, "`state` must be visible, in-flight or delayed.");
}

Result<dead_letters::PeekChoice> choice_of(Call& call, const queue::QueueIdentity& queue) {
  const std::string order = call.query("order");
  if (!order.empty() && order != "newest" && order != "oldest") {
    return fail(ErrorCode::invalid_parameter_value, "`order` must be newest or oldest.");
  }
  dead_letters::PeekChoice choice{.newest_first = order == "newest",
                                  .phase = TRY(phase_of(call.query("state")))};
  const std::string group = call.query("group");
  if (group.empty()) return choice;
  group_what_came(call.parts.dead_letters);
  const auto key =
      call.parts.engine.turn([&](engine::Turn& turn) -> Result<queue::FailureGroupKey> {
        const queue::Queue& found = *TRY(turn.queue(queue));
        return TRY(find_group(turn.state(), found, group))->key;
      });
  choice.group = TRY(key);
  return choice;
}

constexpr std::size_t kPreviewBytes = 200;

// What a list shows of a message. Its texts are masked before the body is cut, because a part of a
// document cannot be masked.
documents::MessageSummary summary_of(Call& call, documents::Message message) {
  call.masking.apply(message);
  documents::MessageSummary out{.key = message.key,
                                .message_id = message.message_id,
                                .lineage_id = message.lineage_id,
                                .state = message.state,
                                .visible_at = message.visible_at,
                                .sent_at = message.sent_at,
                                .expires_at = message.expires_at,
                                .receive_count = message.receive_count,
                                .dead_letter_source = message.dead_letter_source,
                                .redrives = message.redrives,
                                .attempts_total = message.attempts_total,
                                .failure_group = message.failure_group,
                                .failed_again = message.failed_again,
                                .parked = message.parked,
                                .preview = utf8_prefix(message.body, kPreviewBytes),
                                .size = static_cast<std::int64_t>(message.body.size())};
  // An attempt that failed alone says more than one that failed with others.
  for (const documents::Attempt& attempt : message.attempts) {
    if (attempt.error_type.empty() && attempt.error_message.empty()) continue;
    if (attempt.shared.value_or(false) && !out.error_type.empty()) continue;
    out.error_type = attempt.error_type;
    out.error_message = attempt.error_message;
  }
  for (const documents::Event& event : message.events) {
    if (event.what == "dead-lettered") out.dead_at = event.at;
  }
  return out;
}

Result<documents::MessageSummaryPage> summaries(Call& call, documents::MessagePage page) {
  documents::MessageSummaryPage out{.messages = {},
                                    .total = page.total.value_or(0),
                                    .next = page.next,
                                    .now = page.now,
                                    .scanned = page.scanned};
  for (documents::Message& message : page.messages) {
    out.messages.push_back(summary_of(call, std::move(message)));
  }
  return out;
}

}  // namespace

sqs::MessageAttributes attributes_of(const store::MessageContents& contents) {
  sqs::MessageAttributes attributes;
  contents.for_each_attribute([&](const store::AttributeView& attribute) {
    sqs::MessageAttributeValue value{.data_type = attribute.type};
    if (attribute.binary) {
      value.binary_value = wire::Blob{attribute.value};
    } else {
      value.string_value = attribute.value;
    }
    attributes.emplace_back(attribute.name, value);
  });
  return attributes;
}

documents::Message describe_peeked(Call& call, const dead_letters::Peeked& peeked,
                                   const store::StoredMessage& stored, Timestamp wall) {
  return PageWriter(call, 1, nullptr).describe(peeked, stored, wall);
}

Result<documents::MessagePage> peek_messages(Call& call) {
  const queue::QueueIdentity queue = call.queue("queue");
  const dead_letters::PeekChoice choice = TRY(choice_of(call, queue));
  const auto fetch = [&](const Mailbox::AgeMark& after, std::size_t max) {
    return call.parts.dead_letters.peek.page(queue, after, max, choice);
  };
  return write_page(call, fetch, choice);
}

Result<Document> peek_view(Call& call) {
  const std::string view = call.query("view");
  if (view.empty() || view == "full") return detail::to_json(peek_messages(call), call);
  if (view != "summary") {
    return fail(ErrorCode::invalid_parameter_value, "`view` must be full or summary.");
  }
  return detail::to_json(summaries(call, TRY(peek_messages(call))), call);
}

Result<documents::MessagePage> peek_bin(Call& call) {
  const queue::QueueIdentity queue = call.queue("queue");
  return write_page(call, [&](const Mailbox::AgeMark& after, std::size_t max) {
    return call.parts.dead_letters.peek.bin_page(queue, after, max);
  });
}

Result<documents::Message> show_message(Call& call) {
  const queue::QueueIdentity queue = call.queue("queue");
  return describe_message(call, queue, TRY(call.message_key("message")));
}

Result<documents::SpentHandle> show_spent_handle(Call& call) {
  const queue::QueueIdentity queue = TRY(call.path_queue());
  auto sealed = call.parts.engine.turn([&](engine::Turn& turn) -> Result<std::string> {
    const queue::ReceiptHandle spent{.queue = TRY(turn.queue(queue))->key};
    return spent.seal(turn.state().secret());
  });
  return documents::SpentHandle{call.keep(TRY(std::move(sealed)))};
}

Result<documents::Message> describe_message(Call& call, const queue::QueueIdentity& queue,
                                            queue::MessageKey key) {
  auto written =
      TRY(PageWriter(call, 1, nullptr).write({}, [&](const Mailbox::AgeMark&, std::size_t) {
        return call.parts.dead_letters.peek.one(queue, key);
      }));
  if (written.messages.empty()) return no_such_message();
  return std::move(written.messages.front());
}

}  // namespace redrive::manage
