#include "aws/sqs/queue_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "aws/sqs/model/policy_document.h"
#include "aws/sqs/model/redrive_documents.h"
#include "base/padded_text.h"
#include "base/text.h"
#include "core/queue/ids.h"
#include "net/wire/decoder.h"
#include "net/wire/encode.h"

namespace redrive::sqs {
namespace {

using queue::DedupScope;
using queue::QueueSettings;
using queue::RedriveAllowPolicy;
using queue::ThroughputLimit;
using std::chrono::seconds;

// AWS allows policies of a few kilobytes; whatever fits here also fits into one record of a
// checkpoint.
constexpr std::size_t kAttributeBytesMax = 48u << 10;

std::unexpected<Error> unknown_attribute(std::string_view name) {
  return fail(ErrorCode::invalid_attribute_name, fmt::format("Unknown Attribute {}.", name));
}

std::unexpected<Error> bad_value(std::string_view name) {
  return fail(ErrorCode::invalid_attribute_value,
              fmt::format("Invalid value for the parameter {}.", name));
}

std::unexpected<Error> bad_policy(std::string_view name, std::string_view text,
                                  std::string_view reason) {
  return fail(ErrorCode::invalid_parameter_value,
              fmt::format("Value {} for parameter {} is invalid. Reason: {}", text, name, reason));
}

Result<std::int64_t> whole_number(std::string_view name, std::string_view text, std::int64_t min,
                                  std::int64_t max) {
  const auto value = parse_int<std::int64_t>(text);
  if (!value || *value < min || *value > max) return bad_value(name);
  return *value;
}

Result<bool> truth(std::string_view name, std::string_view text) {
  if (iequals(text, "true")) return true;
  if (iequals(text, "false")) return false;
  return bad_value(name);
}

Result<void> set_redrive_policy(QueueSettings& settings, std::string_view text) {
  constexpr std::string_view kName = "RedrivePolicy";
  if (text.empty()) {
    settings.redrive.reset();
    return {};
  }
  wire::Decoder decoder;
  const PaddedText padded(text);
  RedrivePolicyDocument document;
  const auto bad_count = [&](auto count) {
    return bad_policy(kName,
                      text,
                      fmt::format("Invalid value for maxReceiveCount: {}, valid values are from 1 "
                                  "to 1000 both inclusive.",
                                  count));
  };
  if (!wire::decode_json(decoder, padded, document)) {
    RedriveCountText count;
    if (wire::decode_json(decoder, padded, count))
      return bad_count(count.max_receive_count.value_or(""));
    return bad_policy(kName, text, "Redrive policy is not a valid JSON map.");
  }
  constexpr std::string_view kMissing = "Redrive policy does not contain mandatory attribute: {}.";
  if (!document.dead_letter_target_arn) {
    return bad_policy(kName, text, fmt::format(kMissing, "deadLetterTargetArn"));
  }
  if (!document.max_receive_count)
    return bad_policy(kName, text, fmt::format(kMissing, "maxReceiveCount"));
  const std::int64_t count = *document.max_receive_count;
  if (count < 1 || count > queue::kReceiveCountMaxMax) return bad_count(count);
  settings.redrive = queue::RedrivePolicy{std::string(*document.dead_letter_target_arn),
                                          static_cast<std::uint32_t>(count)};
  return {};
}

constexpr std::array<std::string_view, 3> kPermissions = {"allowAll", "denyAll", "byQueue"};
constexpr std::size_t kSourceArnsMax = 10;

Result<void> set_redrive_allow_policy(QueueSettings& settings, std::string_view text) {
  constexpr std::string_view kName = "RedriveAllowPolicy";
  if (text.empty()) {
    settings.redrive_allow.reset();
    return {};
  }
  wire::Decoder decoder;
  const PaddedText padded(text);
  RedriveAllowPolicyDocument document;
  if (!wire::decode_json(decoder, padded, document)) {
    return bad_policy(
        kName,
        text,
        "Amazon SQS can't create the redrive allow policy, as it’s in an unsupported format.");
  }
  const auto permission = std::ranges::find(kPermissions, document.redrive_permission.value_or(""));
  if (permission == kPermissions.end()) {
    return bad_policy(kName, text, "redrivePermission must be one of allowAll, denyAll, byQueue.");
  }
  RedriveAllowPolicy allow;
  allow.permission = static_cast<RedriveAllowPolicy::Permission>(permission - kPermissions.begin());
  allow.source_arns.assign(document.source_queue_arns.begin(), document.source_queue_arns.end());
  const bool by_queue = allow.permission == RedriveAllowPolicy::Permission::by_queue;
  if (by_queue == allow.source_arns.empty() || allow.source_arns.size() > kSourceArnsMax) {
    return bad_policy(
        kName, text, "sourceQueueArns must name 1 to 10 queues with byQueue, and none otherwise.");
  }
  if (std::ranges::any_of(allow.source_arns, queue::is_internal_name)) {
    return bad_policy(kName, text, "sourceQueueArns names a queue that does not exist.");
  }
  settings.redrive_allow = std::move(allow);
  return {};
}

Result<void> set_policy(QueueSettings& settings, std::string_view text) {
  if (!text.empty() && !is_policy(text)) return bad_value("Policy");
  settings.policy = text;
  return {};
}

template <seconds QueueSettings::*kPlace, std::int64_t kMin, std::int64_t kMax>
Result<void> set_seconds(QueueSettings& settings, std::string_view name, std::string_view text) {
  settings.*kPlace = seconds(TRY(whole_number(name, text, kMin, kMax)));
  return {};
}

// Fails unless the queue is FIFO, with AWS's text for this attribute.
Result<void> need_fifo(const QueueSettings& settings, std::string_view name) {
  if (settings.is_fifo()) return {};
  return fail(ErrorCode::invalid_attribute_name,
              fmt::format("You can specify the {} only when FifoQueue is set to true.", name));
}

Result<void> set_fifo(QueueSettings& settings, std::string_view text, AttributeUse use) {
  const bool wanted = TRY(truth("FifoQueue", text));
  if (use == AttributeUse::create) {
    if (!wanted) return unknown_attribute("FifoQueue");
    return {};  // FifoQueue is handled before the other attributes.
  }
  if (!settings.is_fifo()) return unknown_attribute("FifoQueue");
  if (wanted) return {};
  return fail(
      ErrorCode::invalid_attribute_value,
      "Invalid value for the parameter FifoQueue. Reason: Modifying queue type is not supported.");
}

Result<void> set_dedup_scope(QueueSettings& settings, std::string_view text, AttributeUse use) {
  RETURN_IF_ERROR(need_fifo(settings, "DeduplicationScope"));
  if (text != "queue" && text != "messageGroup") return bad_value("DeduplicationScope");
  settings.fifo->dedup_scope = text == "queue" ? DedupScope::queue : DedupScope::message_group;
  if (use == AttributeUse::create) settings.fifo->dedup_scope_at_birth = settings.fifo->dedup_scope;
  return {};
}

Result<void> set_throughput_limit(QueueSettings& settings, std::string_view text) {
  RETURN_IF_ERROR(need_fifo(settings, "FifoThroughputLimit"));
  if (text != "perQueue" && text != "perMessageGroupId") return bad_value("FifoThroughputLimit");
  settings.fifo->throughput_limit =
      text == "perQueue" ? ThroughputLimit::per_queue : ThroughputLimit::per_message_group;
  return {};
}

Result<void> set_one(QueueSettings& s, std::string_view name, std::string_view text,
                     AttributeUse use) {
  if (name == "VisibilityTimeout")
    return set_seconds<&QueueSettings::visibility_timeout, 0, 43'200>(s, name, text);
  if (name == "MessageRetentionPeriod")
    return set_seconds<&QueueSettings::retention, 60, 1'209'600>(s, name, text);
  if (name == "DelaySeconds") return set_seconds<&QueueSettings::delay, 0, 900>(s, name, text);
  if (name == "ReceiveMessageWaitTimeSeconds")
    return set_seconds<&QueueSettings::receive_wait, 0, 20>(s, name, text);
  if (name == "MaximumMessageSize") {
    s.message_bytes_max = static_cast<std::uint32_t>(
        TRY(whole_number(name, text, queue::kMessageBytesMin, queue::kMessageBytesMax)));
    return {};
  }
  if (name == "Policy") return set_policy(s, text);
  if (name == "RedrivePolicy") return set_redrive_policy(s, text);
  if (name == "RedriveAllowPolicy") return set_redrive_allow_policy(s, text);
  if (name == "SqsManagedSseEnabled") {
    s.sqs_managed_sse = TRY(truth(name, text));
    return {};
  }
  if (name == "KmsMasterKeyId") {
    s.kms_key_id = text;
    return {};
  }
  if (name == "KmsDataKeyReusePeriodSeconds") {
    return set_seconds<&QueueSettings::kms_reuse_period, 60, 86'400>(s, name, text);
  }
  if (name == "FifoQueue") return set_fifo(s, text, use);
  if (name == "ContentBasedDeduplication") {
    if (!s.is_fifo()) return unknown_attribute(name);
    s.fifo->content_based_dedup = TRY(truth(name, text));
    return {};
  }
  if (name == "DeduplicationScope") return set_dedup_scope(s, text, use);
  if (name == "FifoThroughputLimit") return set_throughput_limit(s, text);
  return unknown_attribute(name);
}

std::optional<std::string_view> given_value(const StringMap& attributes, std::string_view name) {
  for (const auto& [key, value] : attributes) {
    if (key == name) return value;
  }
  return std::nullopt;
}

// Only one kind of server-side encryption: setting a key disables the other kind.
Result<void> settle_encryption(QueueSettings& settings, const StringMap& attributes) {
  if (settings.kms_key_id.empty()) return {};
  const auto sse = given_value(attributes, "SqsManagedSseEnabled");
  if (sse && iequals(*sse, "true")) {
    return fail(ErrorCode::invalid_attribute_name,
                "You can use one type of server-side encryption (SSE) at one time. You can either "
                "enable KMS SSE or SQS "
                "SSE.");
  }
  settings.sqs_managed_sse = false;
  return {};
}

std::string text_of(bool value) {
  return value ? "true" : "false";
}
std::string text_of(seconds value) {
  return std::to_string(value.count());
}

template <class Document>
std::string json_of(const Document& document) {
  std::string out;
  wire::encode_json(out, document);
  return out;
}

std::string redrive_text(const queue::RedrivePolicy& policy) {
  return json_of(RedrivePolicyDocument{policy.target_arn, policy.receive_count_max});
}

std::string redrive_allow_text(const RedriveAllowPolicy& allow) {
  RedriveAllowPolicyDocument document;
  document.redrive_permission = kPermissions[static_cast<std::size_t>(allow.permission)];
  document.source_queue_arns.assign(allow.source_arns.begin(), allow.source_arns.end());
  return json_of(document);
}

std::optional<std::string> fifo_text(const queue::FifoSettings& fifo, std::string_view name) {
  if (name == "FifoQueue") return "true";
  if (name == "ContentBasedDeduplication") return text_of(fifo.content_based_dedup);
  if (name == "DeduplicationScope")
    return fifo.dedup_scope == DedupScope::queue ? "queue" : "messageGroup";
  if (name == "FifoThroughputLimit") {
    return fifo.throughput_limit == ThroughputLimit::per_queue ? "perQueue" : "perMessageGroupId";
  }
  return std::nullopt;
}

std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace

Result<QueueSettings> apply_attributes(const QueueSettings& settings, const StringMap& attributes,
                                       AttributeUse use) {
  QueueSettings changed = settings;
  if (use == AttributeUse::create) {
    const auto fifo = given_value(attributes, "FifoQueue");
    if (fifo && iequals(*fifo, "true")) changed.fifo.emplace();
  }
  for (const auto& [name, text] : attributes) {
    if (text.size() > kAttributeBytesMax) return bad_value(name);
    RETURN_IF_ERROR(set_one(changed, name, text, use));
  }
  RETURN_IF_ERROR(settle_encryption(changed, attributes));
  if (changed.fifo && changed.fifo->throughput_limit == ThroughputLimit::per_message_group &&
      changed.fifo->dedup_scope != DedupScope::message_group) {
    return fail(ErrorCode::invalid_attribute_value,
                "The perMessageGroupId value is allowed only when the value for DeduplicationScope "
                "is messageGroup.");
  }
  return changed;
}

std::optional<std::string> attribute_text(const QueueSettings& s, std::string_view name) {
  if (name == "VisibilityTimeout") return text_of(s.visibility_timeout);
  if (name == "MessageRetentionPeriod") return text_of(s.retention);
  if (name == "DelaySeconds") return text_of(s.delay);
  if (name == "ReceiveMessageWaitTimeSeconds") return text_of(s.receive_wait);
  if (name == "MaximumMessageSize") return std::to_string(s.message_bytes_max);
  if (name == "SqsManagedSseEnabled") return text_of(s.sqs_managed_sse);
  if (name == "Policy") return unless_empty(s.policy);
  if (name == "RedrivePolicy")
    return s.redrive ? std::optional(redrive_text(*s.redrive)) : std::nullopt;
  if (name == "RedriveAllowPolicy") {
    return s.redrive_allow ? std::optional(redrive_allow_text(*s.redrive_allow)) : std::nullopt;
  }
  if (name == "KmsMasterKeyId") return unless_empty(s.kms_key_id);
  if (name == "KmsDataKeyReusePeriodSeconds") {
    return s.kms_key_id.empty() ? std::nullopt : std::optional(text_of(s.kms_reuse_period));
  }
  return s.fifo ? fifo_text(*s.fifo, name) : std::nullopt;
}

const std::vector<std::string_view>& settable_attributes() {
  static const std::vector<std::string_view> names = {"ContentBasedDeduplication",
                                                      "DeduplicationScope",
                                                      "DelaySeconds",
                                                      "FifoQueue",
                                                      "FifoThroughputLimit",
                                                      "KmsDataKeyReusePeriodSeconds",
                                                      "KmsMasterKeyId",
                                                      "MaximumMessageSize",
                                                      "MessageRetentionPeriod",
                                                      "Policy",
                                                      "ReceiveMessageWaitTimeSeconds",
                                                      "RedriveAllowPolicy",
                                                      "RedrivePolicy",
                                                      "SqsManagedSseEnabled",
                                                      "VisibilityTimeout"};
  return names;
}

bool is_queue_attribute(std::string_view name) {
  static constexpr std::array<std::string_view, 7> kReadOnly = {
      "All",
      "ApproximateNumberOfMessages",
      "ApproximateNumberOfMessagesDelayed",
      "ApproximateNumberOfMessagesNotVisible",
      "CreatedTimestamp",
      "LastModifiedTimestamp",
      "QueueArn"};
  return std::ranges::find(kReadOnly, name) != kReadOnly.end() ||
         std::ranges::binary_search(settable_attributes(), name);
}

std::optional<std::string_view> first_difference(const QueueSettings& current,
                                                 const QueueSettings& wanted,
                                                 const StringMap& given) {
  for (const auto& [name, text] : given) {
    if (attribute_text(current, name) != attribute_text(wanted, name)) return name;
  }
  return std::nullopt;
}

Result<void> check_queue_name(std::string_view name, bool fifo) {
  const std::string_view stem =
      fifo && name.ends_with(".fifo") ? name.substr(0, name.size() - 5) : name;
  const bool suffix = !fifo || name.ends_with(".fifo");
  const bool characters = std::ranges::all_of(stem, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
  if (suffix && characters && !stem.empty() && name.size() <= 80) return {};
  return fail(
      ErrorCode::invalid_parameter_value,
      fifo
          ? "The name of a FIFO queue can only include alphanumeric characters, hyphens, or "
            "underscores, must end "
            "with .fifo suffix and be 1 to 80 in length"
          : "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length");
}

}  // namespace redrive::sqs
