// CreateQueue, DeleteQueue and the other actions on queues.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "aws/sqs/access.h"
#include "aws/sqs/operations.h"
#include "aws/sqs/queue_attributes.h"
#include "base/text.h"
#include "core/catalogue/queues.h"

namespace redrive::sqs {
namespace {

using engine::Turn;
using queue::Queue;
using queue::QueueIdentity;

constexpr std::size_t kListMax = 1000;
constexpr std::size_t kListedPerTurn = 256;

// A dead-letter queue must exist, have the type and account of its source, and allow it.
Result<void> check_redrive(const queue::State& state, const QueueIdentity& source,
                           const queue::QueueSettings& settings, std::string_view text) {
  if (!settings.redrive) return {};
  const auto refuse = [&](std::string_view reason) {
    return fail(
        ErrorCode::invalid_parameter_value,
        fmt::format("Value {} for parameter RedrivePolicy is invalid. Reason: {}", text, reason));
  };
  const Queue* target = state.find_by_arn(settings.redrive->target_arn);
  if (target == nullptr || target->identity.is_hidden())
    return refuse("Dead letter target does not exist.");
  if (target->identity.account != source.account || target->identity.region != source.region) {
    return refuse(
        "Dead letter target owned by another account or in another region is not supported.");
  }
  if (target->settings.is_fifo() != settings.is_fifo()) {
    return refuse("Dead-letter queue must be same type of queue as the source.");
  }
  const auto& allow = target->settings.redrive_allow;
  if (allow && !allow->allows(source.arn())) {
    return refuse(
        "Queue not configured to be used as a dead letter queue by this source queue: see its "
        "RedriveAllowPolicy.");
  }
  return {};
}

std::string_view text_of(const StringMap& attributes, std::string_view name) {
  for (const auto& [key, value] : attributes) {
    if (key == name) return value;
  }
  return {};
}

constexpr std::size_t kTagsMax = 50;

Result<void> merge_tags(queue::Tags& tags, const StringMap& added) {
  for (const auto& [key, value] : added) {
    if (key.empty() || key.size() > 128 * 4 || value.size() > 256 * 4 || key.starts_with("aws:")) {
      return fail(ErrorCode::invalid_parameter_value,
                  fmt::format("Tag key '{}' is invalid: keys have 1 to 128 characters and do not "
                              "begin with aws:, values "
                              "have at most 256.",
                              key));
    }
    tags[std::string(key)] = std::string(value);
  }
  if (tags.size() <= kTagsMax) return {};
  return fail(ErrorCode::invalid_parameter_value,
              fmt::format("Too many tags added for queue: at most {} are allowed.", kTagsMax));
}

// A page token is the last queue of the previous page.
std::string token_for(const std::string& name) {
  return base64_encode("after:" + name);
}

Result<std::string> name_from_token(const std::optional<std::string_view>& token) {
  if (!token) return std::string();
  const auto text = base64_decode(*token);
  if (!text || !text->starts_with("after:")) {
    return fail(ErrorCode::invalid_parameter_value, "Invalid or expired next token.");
  }
  return text->substr(6);
}

// One page of queue names, already sorted.
struct Page {
  StringList urls;
  std::optional<std::string_view> next_token;
};

Page make_page(Call& call, const std::vector<QueueIdentity>& found,
               std::optional<std::int32_t> max_results) {
  const std::size_t max = max_results ? static_cast<std::size_t>(*max_results) : kListMax;
  Page page;
  for (std::size_t i = 0; i < std::min(max, found.size()); ++i)
    page.urls.push_back(call.keep(call.url_of(found[i])));
  if (max_results && found.size() > max)
    page.next_token = call.keep(token_for(found[max - 1].name));
  return page;
}

std::string epoch_seconds(Timestamp time) {
  return std::to_string(time.seconds());
}

std::optional<std::string> reported_attribute(const queue::State& state, const Queue& queue,
                                              std::string_view name) {
  const queue::Mailbox& box = state.mailbox(queue);
  if (name == "ApproximateNumberOfMessages") return std::to_string(box.visible());
  if (name == "ApproximateNumberOfMessagesNotVisible") return std::to_string(box.in_flight());
  if (name == "ApproximateNumberOfMessagesDelayed") return std::to_string(box.delayed());
  if (name == "CreatedTimestamp") return epoch_seconds(queue.created_wall);
  if (name == "LastModifiedTimestamp") return epoch_seconds(queue.modified_wall);
  if (name == "QueueArn") return queue.identity.arn();
  return attribute_text(queue.settings, name);
}

constexpr std::array<std::string_view, 6> kReported = {"ApproximateNumberOfMessages",
                                                       "ApproximateNumberOfMessagesDelayed",
                                                       "ApproximateNumberOfMessagesNotVisible",
                                                       "CreatedTimestamp",
                                                       "LastModifiedTimestamp",
                                                       "QueueArn"};

// The attributes that GetQueueAttributes names, without duplicates.
Result<std::vector<std::string_view>> attribute_names(const StringList& asked) {
  std::vector<std::string_view> names;
  for (const std::string_view name : asked) {
    if (!is_queue_attribute(name))
      return fail(ErrorCode::invalid_attribute_name, fmt::format("Unknown Attribute {}.", name));
    if (name != "All") {
      names.push_back(name);
      continue;
    }
    names.insert(names.end(), settable_attributes().begin(), settable_attributes().end());
    names.insert(names.end(), kReported.begin(), kReported.end());
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

}  // namespace

Result<CreateQueueOutput> run(Call& call, const CreateQueueInput& input) {
  const QueueIdentity identity{call.account, call.region, std::string(input.queue_name)};
  const auto wanted = TRY(apply_attributes({}, input.attributes, AttributeUse::create));
  RETURN_IF_ERROR(check_queue_name(input.queue_name, wanted.is_fifo()));
  queue::Tags tags;
  RETURN_IF_ERROR(merge_tags(tags, input.tags));
  return call.engine.turn([&](Turn& turn) -> Result<CreateQueueOutput> {
    const CreateQueueOutput output{call.keep(call.url_of(identity))};
    if (const Queue* existing = turn.state().find(identity)) {
      if (const auto name = first_difference(existing->settings, wanted, input.attributes)) {
        return fail(
            ErrorCode::queue_name_exists,
            fmt::format(
                "A queue already exists with the same name and a different value for attribute {}",
                *name));
      }
      return output;
    }
    if (call.options.strict_timing && turn.state().deleted_at(identity, turn.stamp().now)) {
      return fail(ErrorCode::queue_deleted_recently,
                  "You must wait 60 seconds after deleting a queue before you can create another "
                  "with the same name.");
    }
    RETURN_IF_ERROR(
        check_redrive(turn.state(), identity, wanted, text_of(input.attributes, "RedrivePolicy")));
    catalogue::create_queue(turn, identity, wanted, tags);
    return output;
  });
}

Result<DeleteQueueOutput> run(Call& call, const DeleteQueueInput& input) {
  const auto identity = TRY(call.queue(input.queue_url));
  return call.engine.turn([&](Turn& turn) -> Result<DeleteQueueOutput> {
    catalogue::delete_queue(turn, *TRY(turn.queue(identity)));
    return DeleteQueueOutput{};
  });
}

Result<GetQueueUrlOutput> run(Call& call, const GetQueueUrlInput& input) {
  const std::string_view account = input.queue_owner_aws_account_id.value_or(call.account);
  const QueueIdentity identity{std::string(account), call.region, std::string(input.queue_name)};
  return call.engine.turn([&](Turn& turn) -> Result<GetQueueUrlOutput> {
    RETURN_IF_ERROR(turn.queue(identity));
    return GetQueueUrlOutput{call.keep(call.url_of(identity))};
  });
}

Result<ListQueuesOutput> run(Call& call, const ListQueuesInput& input) {
  const std::string prefix(input.queue_name_prefix.value_or(""));
  const std::string after = TRY(name_from_token(input.next_token));
  const std::size_t wanted =
      input.max_results ? static_cast<std::size_t>(*input.max_results) + 1 : kListMax;
  std::vector<QueueIdentity> found;
  QueueIdentity from{call.account, call.region, std::max(prefix, after)};
  // A few queues in each turn: most may belong to other accounts or be hidden from the caller.
  const auto look = [&](Turn& turn) {
    const auto& queues = turn.state().queues();
    auto at = queues.lower_bound(from);
    for (std::size_t seen = 0; found.size() < wanted; ++at, ++seen) {
      if (at == queues.end()) return false;
      const QueueIdentity& identity = at->first;
      if (identity.account != call.account || identity.region != call.region) return false;
      if (!identity.name.starts_with(prefix)) return false;
      if (seen == kListedPerTurn) {
        from = identity;
        return true;
      }
      if (call.key != nullptr && !call.key->covers(identity.name)) continue;
      if (identity.is_hidden()) continue;
      if (identity.name > after || after.empty()) found.push_back(identity);
    }
    return false;
  };
  while (call.engine.turn(look)) call.engine.give_way();
  Page page = make_page(call, found, input.max_results);
  return ListQueuesOutput{std::move(page.urls), page.next_token};
}

Result<ListDeadLetterSourceQueuesOutput> run(Call& call,
                                             const ListDeadLetterSourceQueuesInput& input) {
  const auto identity = TRY(call.queue(input.queue_url));
  const std::string after = TRY(name_from_token(input.next_token));
  RETURN_IF_ERROR(
      call.engine.turn([&](Turn& turn) -> Result<queue::Queue*> { return turn.queue(identity); }));
  std::vector<QueueIdentity> found;
  for (const QueueIdentity& other : front::redrive_sources(call.engine, identity.arn())) {
    if (!after.empty() && other.name <= after) continue;
    // Sources that the caller may not see are omitted.
    if (call.key == nullptr || call.key->covers(other.name)) found.push_back(other);
  }
  Page page = make_page(call, found, input.max_results);
  return ListDeadLetterSourceQueuesOutput{std::move(page.urls), page.next_token};
}

Result<GetQueueAttributesOutput> run(Call& call, const GetQueueAttributesInput& input) {
  const auto identity = TRY(call.queue(input.queue_url));
  return call.engine.turn([&](Turn& turn) -> Result<GetQueueAttributesOutput> {
    const Queue& queue = *TRY(turn.queue(identity));
    const auto names = TRY(attribute_names(input.attribute_names));
    GetQueueAttributesOutput output;
    for (const std::string_view name : names) {
      if (auto text = reported_attribute(turn.state(), queue, name)) {
        output.attributes.emplace_back(name, call.keep(std::move(*text)));
      }
    }
    return output;
  });
}

Result<SetQueueAttributesOutput> run(Call& call, const SetQueueAttributesInput& input) {
  const auto identity = TRY(call.queue(input.queue_url));
  RETURN_IF_ERROR(call.engine.catch_up(identity));
  return call.engine.turn([&](Turn& turn) -> Result<SetQueueAttributesOutput> {
    const Queue& queue = *TRY(turn.queue(identity));
    const auto changed =
        TRY(apply_attributes(queue.settings, input.attributes, AttributeUse::change));
    if (const std::string_view policy = text_of(input.attributes, "RedrivePolicy");
        !policy.empty()) {
      RETURN_IF_ERROR(check_redrive(turn.state(), identity, changed, policy));
    }
    catalogue::change_settings(turn, queue, changed);
    return SetQueueAttributesOutput{};
  });
}

Result<PurgeQueueOutput> run(Call& call, const PurgeQueueInput& input) {
  const auto identity = TRY(call.queue(input.queue_url));
  return call.engine.turn([&](Turn& turn) -> Result<PurgeQueueOutput> {
    const Queue& queue = *TRY(turn.queue(identity));
    if (queue.purged_at != Timestamp() &&
        queue.purged_at + queue::kPurgeInterval > turn.stamp().now) {
      return fail(ErrorCode::purge_queue_in_progress,
                  fmt::format("Only one PurgeQueue operation on {} is allowed every 60 seconds.",
                              identity.name));
    }
    catalogue::purge_queue(turn, queue);
    return PurgeQueueOutput{};
  });
}

Result<TagQueueOutput> run(Call& call, const TagQueueInput& input) {
  const auto identity = TRY(call.queue(input.queue_url));
  return call.engine.turn([&](Turn& turn) -> Result<TagQueueOutput> {
    const Queue& queue = *TRY(turn.queue(identity));
    queue::Tags tags = queue.tags;
    RETURN_IF_ERROR(merge_tags(tags, input.tags));
    catalogue::change_tags(turn, queue, std::move(tags));
    return TagQueueOutput{};
  });
}

Result<UntagQueueOutput> run(Call& call, const UntagQueueInput& input) {
  const auto identity = TRY(call.queue(input.queue_url));
  return call.engine.turn([&](Turn& turn) -> Result<UntagQueueOutput> {
    const Queue& queue = *TRY(turn.queue(identity));
    queue::Tags tags = queue.tags;
    for (const std::string_view key : input.tag_keys) {
      if (const auto found = tags.find(key); found != tags.end()) tags.erase(found);
    }
    catalogue::change_tags(turn, queue, std::move(tags));
    return UntagQueueOutput{};
  });
}

Result<ListQueueTagsOutput> run(Call& call, const ListQueueTagsInput& input) {
  const auto identity = TRY(call.queue(input.queue_url));
  return call.engine.turn([&](Turn& turn) -> Result<ListQueueTagsOutput> {
    ListQueueTagsOutput output;
    for (const auto& [key, value] : TRY(turn.queue(identity))->tags) {
      output.tags.emplace_back(call.keep(key), call.keep(value));
    }
    return output;
  });
}

}  // namespace redrive::sqs
