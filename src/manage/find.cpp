// Messages found wherever they are: in queues, bins, archives, or processed after a redrive.

#include <fmt/format.h>

#include <algorithm>

#include "base/calendar.h"
#include "base/text.h"
#include "dead_letters/triage/filter.h"
#include "dead_letters/view/stored_view.h"
#include "front/authorize.h"
#include "manage/operations.h"

namespace redrive::manage {
namespace {

using queue::Mailbox;

constexpr std::size_t kHits = 100;
constexpr std::size_t kHitsMax = 1'000;
// A page ends at these limits, with a place to continue: other requests wait for its thread.
constexpr std::size_t kHitBytesMax = 8u << 20;
constexpr std::size_t kLooksMax = 5'000;
constexpr std::size_t kLookBytesMax = 16u << 20;
// In one turn.
constexpr std::size_t kMessagesPerLook = 250;
constexpr std::size_t kQueuesPerLook = 256;
constexpr std::size_t kArchivedPerLook = 64;
constexpr std::size_t kQuestionBytesMax = 4096;

constexpr std::string_view kArchiveStage = "archived/";

// Small letters and digits only: ids are written in either case.
bool contains_id(std::string_view id, std::string_view text) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return !std::ranges::search(id, text, {}, lower, lower).empty();
}

// What to search for: a filter, or a text in the body, an attribute or an id.
class Question {
 public:
  static Result<Question> parse(const std::string& text, std::string_view mode) {
    if (text.empty() || text.size() > kQuestionBytesMax) {
      return fail(ErrorCode::invalid_parameter_value,
                  fmt::format("`q` has 1 to {} bytes.", kQuestionBytesMax));
    }
    if (mode != "" && mode != "auto" && mode != "text" && mode != "filter") {
      return fail(ErrorCode::invalid_parameter_value, "`mode` is `auto`, `text` or `filter`.");
    }
    Question question;
    question.text_ = text;
    if (mode == "text") return question;
    auto filter = triage::Filter::parse(text);
    if (filter) {
      question.filter_ = *std::move(filter);
    } else if (mode == "filter") {
      return std::unexpected(filter.error());
    }
    return question;
  }

  std::string_view mode() const { return filter_ ? "filter" : "text"; }

  // What part of the message matches, in one word; none if it does not match.
  std::optional<std::string_view> matches(const triage::Subject& subject,
                                          std::string_view dedup_id) const {
    if (filter_) return filter_->matches(subject) ? std::optional("filter") : std::nullopt;
    if (contains_id(subject.message_id, text_)) return "message-id";
    if (contains_id(subject.lineage_id, text_)) return "lineage-id";
    if (subject.body.find(text_) != subject.body.npos) return "body";
    for (const triage::AttributeView& attribute : subject.attributes) {
      if (attribute.name.find(text_) != attribute.name.npos ||
          attribute.value.find(text_) != attribute.value.npos) {
        return "attribute";
      }
    }
    if (subject.message_group.find(text_) != subject.message_group.npos) return "message-group";
    if (dedup_id.find(text_) != dedup_id.npos) return "deduplication-id";
    return std::nullopt;
  }

 private:
  std::string text_;
  std::optional<triage::Filter> filter_;
};

// The queue whose messages are, or were, in this one; none for queues that are not searched.
std::optional<queue::QueueIdentity> owner_of(const queue::QueueIdentity& identity) {
  if (!identity.is_hidden()) return identity;
  for (const std::string_view suffix : {queue::kBinSuffix, queue::kSettledSuffix}) {
    if (!identity.name.ends_with(suffix)) continue;
    return queue::QueueIdentity{identity.account,
                                identity.region,
                                identity.name.substr(0, identity.name.size() - suffix.size())};
  }
  return std::nullopt;
}

std::string_view state_of(const queue::QueueIdentity& identity) {
  if (identity.is_settled()) return "processed";
  return identity.is_hidden() ? "in-bin" : "in-queue";
}

// A place in the search: behind a message of a queue, or behind one that was archived.
struct Place {
  queue::QueueIdentity queue;  // Queues before it are finished.
  Mailbox::AgeMark after{Timestamp(std::numeric_limits<std::int64_t>::min())};
  bool in_queue = false;  // The queue itself is not finished.
  std::optional<std::uint64_t> archived;

  std::string token() const {
    if (archived) return fmt::format("{}{}", kArchiveStage, *archived);
    return fmt::format("{}/{}/{}/{}/{}",
                       in_queue ? "in" : "behind",
                       queue.account,
                       queue.region,
                       queue.name,
                       token_of(after));
  }

  static Result<Place> parse(std::string_view token) {
    Place place;
    if (token.empty()) return place;
    const auto refuse = [] {
      return fail(ErrorCode::invalid_parameter_value, "`after` must be the `next` of a page.");
    };
    if (token.starts_with(kArchiveStage)) {
      place.archived = parse_int<std::uint64_t>(token.substr(kArchiveStage.size()));
      if (!place.archived) return refuse();
      return place;
    }
    const auto parts = split(token, '/');
    if (parts.size() != 5 || (parts[0] != "in" && parts[0] != "behind")) return refuse();
    place.in_queue = parts[0] == "in";
    place.queue = {std::string(parts[1]), std::string(parts[2]), std::string(parts[3])};
    place.after = TRY(mark_of(parts[4]));
    return place;
  }
};

class Search {
 public:
  Search(Call& call, Question question, std::size_t hits_max)
      : call_(call), question_(std::move(question)), hits_max_(hits_max) {}

  documents::FindPage run(Place place) {
    out_.mode = question_.mode();
    bool more = true;
    while (more && !done() && !call_.context.is_abandoned()) {
      more = place.archived ? look_at_archived(place) : look_at_queue(place);
      call_.parts.engine.give_way();
    }
    out_.scanned = static_cast<std::int64_t>(scanned_);
    if (more) out_.next = call_.keep(place.token());
    return std::move(out_);
  }

 private:
  bool done() const {
    return out_.hits.size() >= hits_max_ || scanned_ >= kLooksMax ||
           scanned_bytes_ >= kLookBytesMax || kept_bytes_ >= kHitBytesMax;
  }

  bool may_search(const queue::State& state, const queue::QueueIdentity& identity) const {
    const auto owner = owner_of(identity);
    return owner && owner->account == call_.caller.account &&
           owner->region == call_.caller.region && call_.allow(state, *owner).has_value();
  }

  // Continues in the place's queue or, when that is finished, with the next one. False: nothing is
  // left.
  bool look_at_queue(Place& place) {
    if (!place.in_queue) return enter_next_queue(place);
    const dead_letters::PeekPage page =
        call_.parts.dead_letters.peek.any_page(place.queue, place.after, kMessagesPerLook);
    for (const dead_letters::Peeked& peeked : page.messages) {
      if (done()) return true;
      look_at(place.queue, peeked, page.wall);
      place.after = peeked.mark;
    }
    place.in_queue = page.more;
    return true;
  }

  bool enter_next_queue(Place& place) {
    call_.parts.engine.turn([&](engine::Turn& turn) {
      const auto& queues = turn.state().queues();
      auto at = queues.upper_bound(place.queue);
      for (std::size_t i = 0; at != queues.end() && i < kQueuesPerLook; ++at, ++i) {
        place.queue = at->first;
        if (turn.state().mailbox(*at->second).size() == 0) continue;
        if (!may_search(turn.state(), at->first)) continue;
        place.after = Place().after;
        place.in_queue = true;
        return;
      }
      if (at == queues.end()) place.archived = 0;
    });
    return true;
  }

  // A damaged message is skipped.
  void look_at(const queue::QueueIdentity& identity, const dead_letters::Peeked& peeked,
               Timestamp wall) {
    ++scanned_;
    scanned_bytes_ += peeked.body.size;
    std::string bytes;
    const auto stored = call_.parts.engine.read_message(peeked.mark.key, peeked.body, bytes);
    if (!stored) return;
    dead_letters::StoredView view(*stored);
    const auto matched = question_.matches(view.subject(peeked), stored->contents.dedup);
    if (!matched) return;
    kept_bytes_ += bytes.size();
    const auto kept = store::decode_message(call_.keep(std::move(bytes)));
    documents::Message message = describe_peeked(call_, peeked, *kept, wall);
    documents::FindHit hit{.queue = call_.keep(owner_of(identity)->arn()),
                           .state = state_of(identity),
                           .matched = *matched,
                           .message_id = message.message_id,
                           .lineage_id = message.lineage_id};
    if (identity.is_settled() && !message.events.empty()) {
      hit.processed_at = message.events.back().at;
      hit.job = message.events.back().job;
    }
    hit.message = std::move(message);
    out_.hits.push_back(std::move(hit));
  }

  struct Archived {
    std::uint64_t sequence = 0;
    queue::ArchivedLineage known;
    std::string from;
  };

  std::vector<Archived> next_archived(std::uint64_t after) {
    return call_.parts.engine.turn([&](engine::Turn& turn) {
      std::vector<Archived> found;
      const auto& entries = turn.state().archived().entries();
      for (auto at = entries.upper_bound(after);
           at != entries.end() && found.size() < kArchivedPerLook;
           ++at) {
        found.push_back({at->first, at->second, turn.state().name(at->second.from)});
      }
      return found;
    });
  }

  bool look_at_archived(Place& place) {
    const std::vector<Archived> found = next_archived(*place.archived);
    for (const Archived& one : found) {
      if (done()) return true;
      const auto from = front::identity_from_arn(one.from);
      const bool theirs = from && from->account == call_.caller.account &&
                          from->region == call_.caller.region && call_.allow(*from);
      if (theirs) look_at(one);
      place.archived = one.sequence;
    }
    return found.size() == kArchivedPerLook;
  }

  // Its ids are always known; its contents only if its document is in a bucket of this server.
  void look_at(const Archived& one) {
    ++scanned_;
    ArchivedContents contents;
    if (call_.parts.read_archived) {
      auto read = call_.parts.read_archived(one.known.place, call_.caller.account);
      if (read) contents = *std::move(read);
    }
    scanned_bytes_ += contents.body.size();
    std::vector<triage::AttributeView> attributes;
    for (const auto& attribute : contents.attributes) {
      attributes.push_back(
          {.name = attribute.name, .data_type = attribute.data_type, .value = attribute.value});
    }
    const std::string message_id = one.known.message_id.text();
    const std::string lineage_id = one.known.lineage.text();
    const auto matched = question_.matches({.body = contents.body,
                                            .attributes = attributes,
                                            .message_id = message_id,
                                            .lineage_id = lineage_id,
                                            .group_id = {},
                                            .message_group = contents.group_id,
                                            .error_type = {},
                                            .error_message = {},
                                            .source_queue = {},
                                            .sent = {},
                                            .redrive_count = one.known.history.redrives},
                                           contents.dedup_id);
    if (!matched) return;
    const bool back = one.known.restored_wall != Timestamp();
    out_.hits.push_back({.queue = call_.keep(one.from),
                         .state = back ? "restored" : "archived",
                         .matched = *matched,
                         .message_id = one.known.message_id,
                         .lineage_id = one.known.lineage,
                         .archive = call_.keep(one.known.place)});
  }

  Call& call_;
  const Question question_;
  const std::size_t hits_max_;
  documents::FindPage out_;
  std::size_t scanned_ = 0;
  std::size_t scanned_bytes_ = 0;
  std::size_t kept_bytes_ = 0;
};

// How many messages there are for the caller to search.
std::int64_t searchable(const Call& call) {
  std::size_t total = 0;
  queue::QueueIdentity after;
  while (call.parts.engine.turn([&](engine::Turn& turn) {
    const queue::State& state = turn.state();
    auto at = state.queues().upper_bound(after);
    for (std::size_t i = 0; at != state.queues().end() && i < kQueuesPerLook; ++at, ++i) {
      after = at->first;
      const auto owner = owner_of(at->first);
      const bool theirs = owner && owner->account == call.caller.account &&
                          owner->region == call.caller.region && call.allow(state, *owner);
      if (theirs) total += state.mailbox(*at->second).size();
    }
    if (at != state.queues().end()) return true;
    if (call.sees_all()) total += state.archived().entries().size();
    return false;
  })) {
    call.parts.engine.give_way();
  }
  return static_cast<std::int64_t>(total);
}

}  // namespace

Result<documents::FindPage> find_messages(Call& call) {
  Question question = TRY(Question::parse(call.query("q"), call.query("mode")));
  const std::size_t max = TRY(call.query_number("limit", kHits, kHitsMax));
  const std::string after = call.query("after");
  Place place = TRY(Place::parse(after));
  documents::FindPage page = Search(call, std::move(question), max).run(std::move(place));
  if (after.empty()) page.total = searchable(call);
  return page;
}

}  // namespace redrive::manage
