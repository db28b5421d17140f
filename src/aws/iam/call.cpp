#include "aws/iam/call.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "base/result.h"
#include "base/text.h"
#include "core/engine/in_turns.h"

namespace redrive::iam {
namespace {

using queue::EntryKind;

constexpr std::size_t kPolicyTextMax = 131'072;
constexpr std::size_t kPathMax = 512;
constexpr std::size_t kTagsKeptMax = 50;

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

// The entry, or what to say when there is none.
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
  turn.commit(queue::EntryPut{kind, name, text});
  return {};
}

bool is_name_character(char c) {
  constexpr std::string_view kOthers = "_+=,.@-";
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         kOthers.find(c) != kOthers.npos;
}

}  // namespace

std::string role_entry(std::string_view account, std::string_view name) {
  return fmt::format("{}/{}", account, name);
}

Outcome<void> with_role(Call& call, Access access,
                        const std::function<Outcome<void>(engine::Turn&, Role&)>& work) {
  const std::string name = TRY(call.form.required("RoleName"));
  return call.engine.turn([&](engine::Turn& turn) -> Outcome<void> {
    const std::string entry = role_entry(call.account(), name);
    auto role = TRY(find_entry<Role>(turn.state(),
                                     EntryKind::role,
                                     entry,
                                     fmt::format("The role with name {} cannot be found.", name)));
    RETURN_IF_ERROR(work(turn, *role));
    if (access == Access::read) return {};
    return put_entry(turn, EntryKind::role, entry, *role);
  });
}

Outcome<void> with_policy(Call& call, Access access,
                          const std::function<Outcome<void>(engine::Turn&, Policy&)>& work) {
  const std::string arn = TRY(call.form.required("PolicyArn"));
  return call.engine.turn([&](engine::Turn& turn) -> Outcome<void> {
    const auto missing = fmt::format("Policy {} does not exist or is not attachable.", arn);
    auto policy = TRY(find_entry<Policy>(turn.state(), EntryKind::role_policy, arn, missing));
    RETURN_IF_ERROR(work(turn, *policy));
    if (access == Access::read) return {};
    return put_entry(turn, EntryKind::role_policy, arn, *policy);
  });
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

Outcome<void> put_role(engine::Turn& turn, std::string_view account, const Role& role) {
  return put_entry(turn, EntryKind::role, role_entry(account, role.name), role);
}

Outcome<void> put_policy(engine::Turn& turn, std::string_view account, const Policy& policy) {
  return put_entry(turn, EntryKind::role_policy, policy_arn(account, policy), policy);
}

Outcome<std::string> entity_name(const Form& form, std::string_view parameter,
                                 std::size_t size_max) {
  std::string name = TRY(form.required(parameter));
  if (name.size() <= size_max && std::ranges::all_of(name, is_name_character)) return name;
  return refuse(400,
                "ValidationError",
                fmt::format("The specified value for {} is invalid. It has 1 to {} characters of "
                            "A-Z, a-z, 0-9 and _+=,.@-.",
                            parameter,
                            size_max));
}

Outcome<std::string> entity_path(const Form& form) {
  std::string path(form.find("Path").value_or("/"));
  const bool plain = std::ranges::all_of(path, [](char c) { return c > ' ' && c < 0x7f; });
  if (plain && path.starts_with('/') && path.ends_with('/') && path.size() <= kPathMax) return path;
  return refuse(400, "ValidationError", "The specified value for path is invalid.");
}

Outcome<std::string> policy_text(const Form& form, std::string_view parameter) {
  std::string text = TRY(form.required(parameter));
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  const bool readable =
      text.size() <= kPolicyTextMax && parser.parse(text).get(object) == simdjson::SUCCESS;
  if (readable) return text;
  return refuse(400, "MalformedPolicyDocument", fmt::format("{} is not a JSON object.", parameter));
}

std::string entity_id(std::string_view prefix, IdSource& ids) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  std::string id(prefix);
  for (int i = 0; i < 17; ++i) id += kLetters[ids.bits() >> 59];
  return id;
}

void set_tags(TextMap& tags, const Tags& given) {
  tags.assign(given.begin(), given.end());
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
  if (tags.size() <= kTagsKeptMax) return {};
  return refuse(409, "LimitExceeded", "At most 50 tags are allowed.");
}

void remove_tags(TextMap& tags, const std::vector<std::string>& keys) {
  std::erase_if(tags,
                [&](const auto& tag) { return std::ranges::find(keys, tag.first) != keys.end(); });
}

void write_tags(Xml& out, const TextMap& tags) {
  out.list("Tags", tags, [&](const auto& tag) {
    out.text("Key", tag.first);
    out.text("Value", tag.second);
  });
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

Outcome<PageRequest> page_request(const Form& form) {
  return PageRequest{.path_prefix = std::string(form.text("PathPrefix")),
                     .after = std::string(form.text("Marker")),
                     .size = TRY(form.number("MaxItems", 100, 1, 1000))};
}

void write_page_end(Xml& out, std::string_view next_marker) {
  out.flag("IsTruncated", !next_marker.empty());
  if (!next_marker.empty()) out.text("Marker", next_marker);
}

}  // namespace redrive::iam
