#include <fmt/format.h>

#include <algorithm>

#include "aws/ssm/call.h"
#include "base/text.h"
#include "core/catalogue/documents.h"
#include "front/kept_document.h"
#include "front/masking.h"

// The actions. Parameters are documents of the catalogue; only the newest version is kept.

namespace redrive::ssm {
namespace {

using front::Refusal;
using front::refuse;
using queue::EntryKind;

constexpr std::string_view kSecure = "SecureString";
constexpr std::string_view kTypes[] = {"String", "StringList", kSecure};
constexpr std::string_view kOwnKey = "alias/aws/ssm";
constexpr std::size_t kNamesMax = 10;
constexpr std::size_t kPageMax = 10;
constexpr std::size_t kStandardBytesMax = 4096;
constexpr std::size_t kAdvancedBytesMax = 8192;
constexpr std::size_t kDescriptionBytesMax = 1024;
constexpr std::size_t kEntriesPerTurn = 256;

// What the catalogue keeps.
struct Stored {
  std::string_view type;
  std::string_view value;  // Sealed if it is a SecureString.
  std::int64_t version = 0;
  std::int64_t modified_ms = 0;
  std::string_view description;
  std::string_view tier;
  std::string_view data_type;
};
consteval auto shape_of(Stored*) {
  return wire::shape(wire::required("type", &Stored::type),
                     wire::required("value", &Stored::value).content(),
                     wire::required("version", &Stored::version),
                     wire::required("modifiedMs", &Stored::modified_ms),
                     wire::optional("description", &Stored::description),
                     wire::required("tier", &Stored::tier),
                     wire::required("dataType", &Stored::data_type));
}
using Document = front::KeptDocument<Stored>;

std::unexpected<Refusal> invalid(std::string message) {
  return refuse(400, "ValidationException", std::move(message));
}

std::unexpected<Refusal> not_found(std::string_view name) {
  return refuse(400, "ParameterNotFound", fmt::format("Parameter {} not found.", name));
}

Outcome<void> authorize(const Call& call, const Address& address) {
  RETURN_IF_ERROR(front::decide(call.caller(), call.operation(), address.resource(), {}));
  return {};
}

Outcome<Address> authorized(const Call& call, std::string_view name) {
  Address address = TRY(parse_address(call.caller(), name));
  RETURN_IF_ERROR(authorize(call, address));
  return address;
}

std::optional<std::string> find_text(Call& call, const Address& address) {
  return call.parts.engine.turn([&](engine::Turn& turn) -> std::optional<std::string> {
    const std::string* const found = turn.state().find_entry(EntryKind::parameter, address.entry());
    return found == nullptr ? std::nullopt : std::optional(*found);
  });
}

Outcome<Document> read_document(std::string_view text) {
  Document document(text);
  if (!document.ok()) return refuse(500, "InternalServerError", "The parameter cannot be read.");
  return document;
}

// The role reader never sees secrets, whatever it asks for.
Outcome<std::string> opened(Call& call, const Address& address, std::string_view sealed) {
  if (front::is_always_masked(call.caller())) {
    return fail(ErrorCode::access_denied,
                fmt::format("The role reader may not decrypt {}.", address.name));
  }
  auto value = call.parts.sealer.open(sealed, address.entry());
  if (value) return *std::move(value);
  if (value.error().code != ErrorCode::storage_damaged) return std::unexpected(value.error());
  return refuse(400, "InvalidKeyId", value.error().message);
}

Outcome<Parameter> describe(Call& call, const Address& address, std::string_view text,
                            bool with_decryption) {
  Document stored = TRY(read_document(text));
  std::string value(stored->value);
  if (with_decryption && stored->type == kSecure) value = TRY(opened(call, address, value));
  return Parameter{.name = call.keep(address.name),
                   .type = call.keep(std::string(stored->type)),
                   .value = call.keep(std::move(value)),
                   .version = stored->version,
                   .selector = call.keep(address.selector),
                   .last_modified = static_cast<double>(stored->modified_ms) / 1000,
                   .arn = call.keep(address.arn()),
                   .data_type = call.keep(std::string(stored->data_type))};
}

// Only the newest version is kept, and no labels.
Outcome<void> check_selector(const Address& address, const Parameter& found) {
  if (address.selector.empty() || address.selector == fmt::format(":{}", found.version)) return {};
  return refuse(400,
                "ParameterVersionNotFound",
                fmt::format("Systems Manager could not find version {} of {}.",
                            std::string_view(address.selector).substr(1),
                            address.name));
}

Outcome<Parameter> find(Call& call, const Address& address, bool with_decryption) {
  const auto text = find_text(call, address);
  if (!text) return not_found(address.name);
  Parameter found = TRY(describe(call, address, *text, with_decryption));
  RETURN_IF_ERROR(check_selector(address, found));
  return found;
}

// All of them are authorised before anything is done.
Outcome<std::vector<Address>> authorized_all(Call& call, const Names& names) {
  if (names.size() > kNamesMax) {
    return invalid(fmt::format("Names must have at most {} members.", kNamesMax));
  }
  std::vector<Address> addresses;
  for (const std::string_view name : names) addresses.push_back(TRY(authorized(call, name)));
  return addresses;
}

// A new parameter, without its version and time.
struct Draft {
  Address address;
  std::string type;
  std::string value;  // Sealed if it is a SecureString.
};

Outcome<std::string> type_of(Call& call, const Address& address, const PutParameterInput& input) {
  if (std::ranges::find(kTypes, input.type) != std::end(kTypes)) return std::string(input.type);
  if (!input.type.empty()) {
    return refuse(
        400, "UnsupportedParameterType", "Type must be String, StringList or SecureString.");
  }
  const auto text = find_text(call, address);
  if (!text) return invalid("A parameter type is required when you create a parameter.");
  return std::string(TRY(read_document(*text))->type);
}

std::string_view tier_of(const PutParameterInput& input) {
  const bool large = input.value.size() > kStandardBytesMax;
  if (input.tier == "Intelligent-Tiering") return large ? "Advanced" : "Standard";
  return input.tier == "Advanced" ? "Advanced" : "Standard";
}

Outcome<void> check_options(const PutParameterInput& input) {
  constexpr std::string_view kTiers[] = {"", "Standard", "Advanced", "Intelligent-Tiering"};
  if (std::ranges::find(kTiers, input.tier) == std::end(kTiers)) {
    return invalid("Tier must be Standard, Advanced or Intelligent-Tiering.");
  }
  if (!input.data_type.empty() && input.data_type != "text") {
    return invalid("DataType must be text.");
  }
  if (!input.key_id.empty() && input.key_id != kOwnKey) {
    return refuse(400,
                  "InvalidKeyId",
                  fmt::format("Values are sealed with the server's own key, {}.", kOwnKey));
  }
  if (input.description && input.description->size() > kDescriptionBytesMax) {
    return invalid("Description must have at most 1024 characters.");
  }
  return {};
}

Outcome<void> check_value(const PutParameterInput& input) {
  if (!is_utf8(input.value)) return invalid("Value must be valid UTF-8.");
  const bool advanced = tier_of(input) == "Advanced";
  const std::size_t max = advanced ? kAdvancedBytesMax : kStandardBytesMax;
  if (input.value.size() <= max) return {};
  return invalid(
      fmt::format("{} tier parameters support a maximum parameter value of {} characters.",
                  advanced ? "Advanced" : "Standard",
                  max));
}

Outcome<Draft> draft_of(Call& call, const PutParameterInput& input) {
  Draft draft{.address = TRY(authorized(call, input.name)), .type = {}, .value = {}};
  RETURN_IF_ERROR(check_new_name(draft.address.name));
  if (!draft.address.selector.empty())
    return invalid("A version cannot be put: name the parameter.");
  RETURN_IF_ERROR(check_options(input));
  RETURN_IF_ERROR(check_value(input));
  draft.type = TRY(type_of(call, draft.address, input));
  draft.value = draft.type == kSecure
                    ? TRY(call.parts.sealer.seal(input.value, draft.address.entry()))
                    : std::string(input.value);
  return draft;
}

// In turn. The version before this one; 0 when there is none.
Outcome<std::int64_t> version_before(const queue::State& state, const Draft& draft,
                                     bool overwrite) {
  const std::string* const text = state.find_entry(EntryKind::parameter, draft.address.entry());
  if (text == nullptr) return 0;
  if (!overwrite) {
    return refuse(400,
                  "ParameterAlreadyExists",
                  "The parameter already exists. To overwrite this value, set the overwrite option "
                  "in the request to true.");
  }
  Document before = TRY(read_document(*text));
  if (before->type == draft.type) return before->version;
  return refuse(400,
                "HierarchyTypeMismatchException",
                fmt::format("The type of a parameter cannot be changed: {} is a {}.",
                            draft.address.name,
                            before->type));
}

// Collects the parameters below a path that the caller may see, a few in each turn.
class PathWalk {
 public:
  struct Found {
    Address address;
    std::string text;
  };

  PathWalk(Call& call, std::string path, bool recursive)
      : call_(call), path_(std::move(path)), recursive_(recursive) {}

  // Up to `max` behind the name `after`.
  std::vector<Found> take(std::string_view after, std::size_t max) {
    next_ = address_of(after.empty() ? "" : std::string(after) + '\0').entry();
    const auto look = [&](engine::Turn& turn) { return walk(turn.state(), max); };
    while (call_.parts.engine.turn(look)) call_.parts.engine.give_way();
    return std::move(found_);
  }

 private:
  Address address_of(std::string name) const {
    return {.account = call_.caller().account,
            .region = call_.caller().region,
            .name = std::move(name)};
  }

  // Whether there is more to read.
  bool walk(const queue::State& state, std::size_t max) {
    const std::string own = address_of("").entry();
    auto at = state.entries().lower_bound({EntryKind::parameter, next_});
    for (std::size_t seen = 0; found_.size() < max; ++at, ++seen) {
      const bool ended = at == state.entries().end() || at->first.first != EntryKind::parameter ||
                         !at->first.second.starts_with(own);
      if (ended) return false;
      if (seen == kEntriesPerTurn) {
        next_ = at->first.second;
        return true;
      }
      Address address = address_of(at->first.second.substr(own.size()));
      if (is_below(address.name) && authorize(call_, address)) {
        found_.push_back({std::move(address), at->second});
      }
    }
    return false;
  }

  // Names without a slash are at the root.
  bool is_below(std::string_view name) const {
    if (path_ == "/" && !name.starts_with('/')) return true;
    if (!name.starts_with(path_)) return false;
    return recursive_ || name.find('/', path_.size()) == name.npos;
  }

  Call& call_;
  const std::string path_;
  const bool recursive_;
  std::string next_;
  std::vector<Found> found_;
};

std::string joined(const Names& names) {
  std::string text;
  for (const std::string_view name : names) text.append(text.empty() ? "" : " ").append(name);
  return text;
}

}  // namespace

Outcome<GetParameterOutput> get_parameter(Call& call, const GetParameterInput& input) {
  const Address address = TRY(authorized(call, input.name));
  return GetParameterOutput{TRY(find(call, address, input.with_decryption))};
}

Outcome<GetParametersOutput> get_parameters(Call& call, const GetParametersInput& input) {
  const std::vector<Address> addresses = TRY(authorized_all(call, input.names));
  GetParametersOutput output;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    auto found = find(call, addresses[i], input.with_decryption);
    if (found) {
      output.parameters.push_back(*std::move(found));
    } else if (found.error().code == "ParameterNotFound" ||
               found.error().code == "ParameterVersionNotFound") {
      output.invalid.push_back(input.names[i]);
    } else {
      return std::unexpected(std::move(found).error());
    }
  }
  return output;
}

Outcome<GetParametersByPathOutput> get_parameters_by_path(Call& call,
                                                          const GetParametersByPathInput& input) {
  PathWalk walk(call, TRY(parse_path(input.path)), input.recursive);
  const auto after = base64_decode(input.next_token);
  if (!after) return refuse(400, "InvalidNextToken", "The specified token isn't valid.");
  const auto max = static_cast<std::size_t>(input.max_results.value_or(kPageMax));
  const std::vector<PathWalk::Found> found = walk.take(*after, max + 1);
  GetParametersByPathOutput output;
  for (std::size_t i = 0; i < std::min(found.size(), max); ++i) {
    output.parameters.push_back(
        TRY(describe(call, found[i].address, found[i].text, input.with_decryption)));
  }
  if (found.size() > max) {
    output.next_token = call.keep(base64_encode(found[max - 1].address.name));
  }
  return output;
}

Outcome<PutParameterOutput> put_parameter(Call& call, const PutParameterInput& input) {
  const Draft draft = TRY(draft_of(call, input));
  return call.parts.engine.turn([&](engine::Turn& turn) -> Outcome<PutParameterOutput> {
    const std::int64_t before = TRY(version_before(turn.state(), draft, input.overwrite));
    const Stored stored{.type = draft.type,
                        .value = draft.value,
                        .version = before + 1,
                        .modified_ms = turn.stamp().wall.ms(),
                        .description = input.description.value_or(""),
                        .tier = tier_of(input),
                        .data_type = "text"};
    std::string text;
    wire::encode_json(text, stored);
    const std::string entry = draft.address.entry();
    catalogue::put(turn, EntryKind::parameter, entry, text);
    return PutParameterOutput{.version = stored.version, .tier = stored.tier};
  });
}

Outcome<void> delete_parameter(Call& call, const DeleteParameterInput& input) {
  const Address address = TRY(authorized(call, input.name));
  return call.parts.engine.turn([&](engine::Turn& turn) -> Outcome<void> {
    const std::string entry = address.entry();
    if (turn.state().find_entry(EntryKind::parameter, entry) == nullptr) {
      return not_found(address.name);
    }
    catalogue::remove(turn, EntryKind::parameter, entry);
    return {};
  });
}

Outcome<DeleteParametersOutput> delete_parameters(Call& call, const DeleteParametersInput& input) {
  const std::vector<Address> addresses = TRY(authorized_all(call, input.names));
  DeleteParametersOutput output;
  call.parts.engine.turn([&](engine::Turn& turn) {
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      const std::string entry = addresses[i].entry();
      const bool exists = turn.state().find_entry(EntryKind::parameter, entry) != nullptr;
      (exists ? output.deleted : output.invalid).push_back(input.names[i]);
      if (exists) catalogue::remove(turn, EntryKind::parameter, entry);
    }
  });
  return output;
}

front::AuditNote audit_note(const PutParameterInput& input) {
  return {.resource = std::string(input.name)};
}
front::AuditNote audit_note(const DeleteParameterInput& input) {
  return {.resource = std::string(input.name)};
}
front::AuditNote audit_note(const DeleteParametersInput& input) {
  return {.resource = joined(input.names)};
}

}  // namespace redrive::ssm
