#include "aws/iam/call.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "base/calendar.h"
#include "base/text.h"
#include "core/catalogue/documents.h"
#include "core/engine/in_turns.h"

namespace redrive::iam {
namespace {

using queue::EntryKind;

constexpr std::size_t kPolicyTextMax = 131'072;
constexpr std::size_t kPathMax = 512;
constexpr std::size_t kTagsMax = 50;
constexpr std::size_t kTagKeyMax = 128;
constexpr std::size_t kTagValueMax = 256;

// Visits the entries of a kind whose names begin with `prefix`.
template <class T>
void for_each_entry(engine::Engine& engine, EntryKind kind, const std::string& prefix,
                    const std::function<bool(T&)>& visit) {
  engine::visit_documents(
      engine, kind, prefix, [&](const std::string&, const std::string& document) {
        Kept<T> kept(document);
        return !kept.ok() || visit(*kept);
      });
}

// The entry, or a refusal with the message `missing`.
template <class T>
Outcome<Kept<T>> find_entry(const queue::State& state, EntryKind kind, const std::string& name,
                            std::string missing) {
  const std::string* const found = state.find_entry(kind, name);
  if (found == nullptr) return no_such_entity(std::move(missing));
  Kept<T> kept(*found);
  if (!kept.ok()) return refuse(500, "ServiceFailure", "The stored entity cannot be read.");
  return kept;
}

template <class T>
Outcome<void> put_entry(engine::Turn& turn, EntryKind kind, std::string_view name, const T& value) {
  std::string text;
  wire::encode_json(text, value);
  if (text.size() > queue::kEntryBytesMax) {
    return refuse(409, "LimitExceeded", "The policies of one entity are too large in total.");
  }
  catalogue::put(turn, kind, name, text);
  return {};
}

bool is_name_character(char c) {
  constexpr std::string_view kOthers = "_+=,.@-";
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         kOthers.find(c) != kOthers.npos;
}

}  // namespace

std::unexpected<Refusal> no_such_entity(std::string message) {
  return refuse(404, "NoSuchEntity", std::move(message));
}

std::string role_entry(std::string_view account, std::string_view name) {
  return fmt::format("{}/{}", account, name);
}

Outcome<Kept<Role>> find_role(const queue::State& state, std::string_view account,
                              std::string_view name) {
  return find_entry<Role>(state,
                          EntryKind::role,
                          role_entry(account, name),
                          fmt::format("The role with name {} cannot be found.", name));
}

Outcome<Kept<Policy>> find_policy(const queue::State& state, std::string_view arn) {
  return find_entry<Policy>(state,
                            EntryKind::role_policy,
                            std::string(arn),
                            fmt::format("Policy {} does not exist or is not attachable.", arn));
}

Outcome<void> put_role(engine::Turn& turn, const std::string& entry, const Role& role) {
  return put_entry(turn, EntryKind::role, entry, role);
}

Outcome<void> put_policy(engine::Turn& turn, const std::string& arn, const Policy& policy) {
  return put_entry(turn, EntryKind::role_policy, arn, policy);
}

void for_each_role(engine::Engine& engine, std::string_view account,
                   const std::function<bool(Role&)>& visit) {
  for_each_entry(engine, EntryKind::role, role_entry(account, ""), visit);
}

void for_each_policy(engine::Engine& engine, std::string_view account,
                     const std::function<bool(Policy&)>& visit) {
  for_each_entry(
      engine, EntryKind::role_policy, fmt::format("arn:aws:iam::{}:policy/", account), visit);
}

Outcome<void> check_name(std::string_view parameter, std::string_view name, std::size_t size_max) {
  if (name.size() <= size_max && std::ranges::all_of(name, is_name_character)) return {};
  return refuse(400,
                "ValidationError",
                fmt::format("The specified value for {} is invalid. It has 1 to {} characters of "
                            "A-Z, a-z, 0-9 and _+=,.@-.",
                            parameter,
                            size_max));
}

Outcome<std::string_view> entity_path(std::optional<std::string_view> given) {
  const std::string_view path = given.value_or("/");
  const bool plain = std::ranges::all_of(path, [](char c) { return c > ' ' && c < 0x7f; });
  if (plain && path.starts_with('/') && path.ends_with('/') && path.size() <= kPathMax) return path;
  return refuse(400, "ValidationError", "The specified value for path is invalid.");
}

Outcome<void> check_document(std::string_view parameter, std::string_view text) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  const bool readable = text.size() <= kPolicyTextMax &&
                        parser.parse(std::string(text)).get(object) == simdjson::SUCCESS;
  if (readable) return {};
  return refuse(400, "MalformedPolicyDocument", fmt::format("{} is not a JSON object.", parameter));
}

std::string entity_id(std::string_view prefix, IdSource& ids) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  std::string id(prefix);
  for (int i = 0; i < 17; ++i) id += kLetters[ids.bits() >> 59];
  return id;
}

std::string time_text(std::int64_t ms) {
  return format_utc(Timestamp(ms)).substr(0, 19) + "Z";
}

Outcome<Tags> tags_of(const TagList& given) {
  Tags tags;
  for (const Tag& tag : given) {
    if (tag.key.empty() || tag.key.size() > kTagKeyMax || tag.value.size() > kTagValueMax) {
      return refuse(400,
                    "ValidationError",
                    "A tag has a key of 1 to 128 and a value of up to 256 characters.");
    }
    tags[tag.key] = tag.value;
    if (tags.size() > kTagsMax) return refuse(409, "LimitExceeded", "At most 50 tags are allowed.");
  }
  return tags;
}

Outcome<void> add_tags(TextMap& tags, const Tags& given) {
  for (const auto& [key, value] : given) {
    const auto found = std::ranges::find(tags, key, &TextMap::value_type::first);
    if (found != tags.end()) {
      found->second = value;
    } else {
      tags.emplace_back(key, value);
    }
  }
  if (tags.size() <= kTagsMax) return {};
  return refuse(409, "LimitExceeded", "At most 50 tags are allowed.");
}

void remove_tags(TextMap& tags, const TextList& keys) {
  std::erase_if(tags,
                [&](const auto& tag) { return std::ranges::find(keys, tag.first) != keys.end(); });
}

TagList tag_list(Call& call, const TextMap& tags) {
  TagList list;
  for (const auto& [key, value] : tags) {
    list.push_back({call.keep(std::string(key)), call.keep(std::string(value))});
  }
  return list;
}

Attachments count_attachments(engine::Engine& engine, std::string_view account) {
  Attachments counts;
  for_each_role(engine, account, [&](Role& role) {
    for (const std::string_view arn : role.attached) ++counts[std::string(arn)];
    return true;
  });
  return counts;
}

std::int64_t attachments_of(const Attachments& attachments, std::string_view arn) {
  const auto found = attachments.find(arn);
  return found == attachments.end() ? 0 : found->second;
}

}  // namespace redrive::iam
