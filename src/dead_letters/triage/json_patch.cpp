#include "dead_letters/triage/json_patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.h"
#include "dead_letters/triage/characters.h"
#include "dead_letters/triage/json_tree.h"

namespace redrive::triage {
namespace {

using Operation = JsonPatch::Operation;

constexpr std::array<std::pair<std::string_view, Operation::Kind>, 6> kPatchWords = {{
    {"add", Operation::Kind::add},
    {"remove", Operation::Kind::remove},
    {"replace", Operation::Kind::replace},
    {"move", Operation::Kind::move},
    {"copy", Operation::Kind::copy},
    {"test", Operation::Kind::test},
}};

constexpr std::size_t kShownBytes = 60;  // Of a value in an error message.

std::unexpected<Error> patch_failure(std::string message) {
  return fail(ErrorCode::invalid_parameter_value, std::move(message));
}

Result<std::string_view> checked_json(std::string_view text, std::size_t bytes_max) {
  if (text.size() > bytes_max) {
    return patch_failure(fmt::format("It has more than {} bytes.", bytes_max));
  }
  const JsonExtent extent = TRY(check_json(text, JsonPatch::kDepthMax));
  return text.substr(skip_json_blanks(text, 0), extent.bytes);
}

std::string written_json(const JsonNode& node) {
  std::string out;
  node.write(out);
  return out;
}

// Parses one operation of a patch.
class OperationReader {
 public:
  OperationReader(JsonNode& node, std::size_t& scanned) : node_(node), scanned_(scanned) {}

  Result<Operation> read() {
    if (node_.kind() != JsonNode::Kind::object)
      return patch_failure("An operation must be an object.");
    const std::string word = TRY(text("op"));
    const auto* known =
        std::ranges::find(kPatchWords, word, [](const auto& pair) { return pair.first; });
    if (known == kPatchWords.end()) {
      return patch_failure(
          fmt::format("\"{}\" is not an operation: use add, remove, replace, move, copy or test.",
                      cut(word, kShownBytes)));
    }
    Operation out{.kind = known->second, .path = TRY(pointer("path"))};
    using Kind = Operation::Kind;
    if (out.kind == Kind::move || out.kind == Kind::copy) {
      out.from = TRY(pointer("from"));
    } else if (out.kind != Kind::remove) {
      out.value = written_json(*TRY(member("value")));
    }
    if (out.kind == Kind::move && out.from.is_above(out.path)) {
      return patch_failure("A value cannot be moved into itself.");
    }
    return out;
  }

 private:
  Result<const JsonNode*> member(std::string_view name) {
    const JsonNode* found = nullptr;
    for (const JsonMember& each : node_.open(scanned_)) {
      if (unescape_json(each.key) != name) continue;
      if (found != nullptr) return patch_failure(fmt::format("It has two members \"{}\".", name));
      found = &each.value;
    }
    if (found == nullptr) return patch_failure(fmt::format("It has no member \"{}\".", name));
    return found;
  }

  Result<std::string> text(std::string_view name) {
    const JsonNode* node = TRY(member(name));
    if (node->kind() != JsonNode::Kind::string) {
      return patch_failure(fmt::format("Its \"{}\" is not a string.", name));
    }
    return unescape_json(written_json(*node));
  }

  Result<JsonPointer> pointer(std::string_view name) {
    const std::string written = TRY(text(name));
    return JsonPointer::parse(written);
  }

  JsonNode& node_;
  std::size_t& scanned_;
};

// Applies operations to one document.
class JsonPatcher {
 public:
  explicit JsonPatcher(std::string_view document) : root_(document), bytes_(document.size()) {}

  Result<void> run(const Operation& operation) {
    RETURN_IF_ERROR(run_kind(operation));
    if (scanned_ <= JsonPatch::kWorkBytesMax) return {};
    return patch_failure("the patch is too expensive");
  }

  std::string result() const { return written_json(root_); }

 private:
  Result<void> run_kind(const Operation& operation) {
    switch (operation.kind) {
      case Operation::Kind::add:
        return add(operation.path, JsonNode(operation.value));
      case Operation::Kind::remove:
        return remove(operation.path);
      case Operation::Kind::replace:
        return replace(operation.path, JsonNode(operation.value));
      case Operation::Kind::move:
        return move(operation.from, operation.path);
      case Operation::Kind::copy:
        return add(operation.path, JsonNode(*TRY(find(operation.from, depth(operation.from)))));
      case Operation::Kind::test:
        return test(operation.path, JsonNode(operation.value));
    }
    return {};
  }

  static std::size_t depth(const JsonPointer& pointer) { return pointer.tokens().size(); }

  std::unexpected<Error> nothing_at(const JsonPointer& pointer, std::size_t tokens) const {
    return patch_failure(
        fmt::format("there is nothing at \"{}\"", json_pointer_text(pointer, tokens)));
  }

  // The value at the first `tokens` of the pointer.
  Result<JsonNode*> find(const JsonPointer& pointer, std::size_t tokens) {
    JsonNode* node = &root_;
    for (std::size_t i = 0; i < tokens; ++i) {
      const auto place = TRY(place_in(*node, pointer, i));
      auto& members = node->open(scanned_);
      if (!place || *place >= members.size()) return nothing_at(pointer, i + 1);
      node = &members[*place].value;
    }
    return node;
  }

  // The index that token `i` leads to in a container: the size for the end of an array, nullopt for
  // a key that an object does not have.
  Result<std::optional<std::size_t>> place_in(JsonNode& node, const JsonPointer& pointer,
                                              std::size_t i) {
    const std::string& token = pointer.tokens()[i];
    if (node.kind() == JsonNode::Kind::object) return key_place(node, token);
    if (node.kind() != JsonNode::Kind::array) return nothing_at(pointer, i + 1);
    if (token == "-") return node.open(scanned_).size();
    const auto index = parse_int<std::size_t>(token);
    if (!index || (token.size() > 1 && token[0] == '0')) {
      return patch_failure(fmt::format("\"{}\" is not an index of the array at \"{}\"",
                                       cut(token, kShownBytes),
                                       json_pointer_text(pointer, i)));
    }
    return *index;
  }

  Result<std::optional<std::size_t>> key_place(JsonNode& node, const std::string& token) {
    const auto& members = node.open(scanned_);
    scanned_ += 8 * members.size();
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!is_key(members[i].key, token)) continue;
      if (found) {
        return patch_failure(fmt::format("the key \"{}\" occurs twice", cut(token, kShownBytes)));
      }
      found = i;
    }
    return found;
  }

  static bool is_key(std::string_view written, std::string_view name) {
    if (written.find('\\') != std::string_view::npos) return unescape_json(written) == name;
    return written.substr(1, written.size() - 2) == name;
  }

  // All new values pass through here, so growth is bounded.
  Result<void> admit(const JsonPointer& path, const JsonNode& value) {
    const JsonExtent extent = value.extent(scanned_);
    bytes_ += extent.bytes;
    if (!path.is_root()) bytes_ += escape_json(path.tokens().back()).size() + 2;
    if (bytes_ > JsonPatch::kDocumentBytesMax) {
      return patch_failure(
          fmt::format("the document would grow beyond {} bytes", JsonPatch::kDocumentBytesMax));
    }
    if (depth(path) + extent.depth > JsonPatch::kDepthMax) {
      return patch_failure(
          fmt::format("the document would be more than {} levels deep", JsonPatch::kDepthMax));
    }
    return {};
  }

  void forget(const JsonNode& value) { bytes_ -= std::min(bytes_, value.extent(scanned_).bytes); }

  Result<void> set(JsonNode& place, const JsonPointer& path, JsonNode value) {
    forget(place);
    RETURN_IF_ERROR(admit(path, value));
    place = std::move(value);
    return {};
  }

  Result<void> add(const JsonPointer& path, JsonNode value) {
    if (path.is_root()) return set(root_, path, std::move(value));
    JsonNode& parent = *TRY(find(path, depth(path) - 1));
    const auto place = TRY(place_in(parent, path, depth(path) - 1));
    auto& members = parent.open(scanned_);
    const bool in_object = parent.kind() == JsonNode::Kind::object;
    if (in_object && place) return set(members[*place].value, path, std::move(value));
    if (!in_object && *place > members.size()) {
      return patch_failure(fmt::format("the array at \"{}\" has only {} items",
                                       json_pointer_text(path, depth(path) - 1),
                                       members.size()));
    }
    RETURN_IF_ERROR(admit(path, value));
    const std::size_t index = place.value_or(members.size());
    members.insert(members.begin() + static_cast<std::ptrdiff_t>(index),
                   {in_object ? escape_json(path.tokens().back()) : "", std::move(value)});
    return {};
  }

  Result<void> replace(const JsonPointer& path, JsonNode value) {
    return set(*TRY(find(path, depth(path))), path, std::move(value));
  }

  Result<JsonNode> take(const JsonPointer& path) {
    if (path.is_root()) return patch_failure("the whole document cannot be removed");
    JsonNode& found = *TRY(find(path, depth(path)));
    forget(found);
    JsonNode out = std::move(found);
    JsonNode& parent = *TRY(find(path, depth(path) - 1));
    const auto place = TRY(place_in(parent, path, depth(path) - 1));
    auto& members = parent.open(scanned_);
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(*place));
    return out;
  }

  Result<void> remove(const JsonPointer& path) {
    TRY(take(path));
    return {};
  }

  Result<void> move(const JsonPointer& from, const JsonPointer& path) {
    if (from != path) return add(path, TRY(take(from)));
    TRY(find(from, depth(from)));
    return {};
  }

  Result<void> test(const JsonPointer& path, JsonNode value) {
    const std::string text = written_json(*TRY(find(path, depth(path))));
    JsonNode here(text);  // A copy: comparing opens nodes, and the document must not change.
    if (same_json(here, value, scanned_)) return {};
    return patch_failure(fmt::format("the value is {}", triage::cut(text, kShownBytes)));
  }

  JsonNode root_;
  std::size_t bytes_;  // Upper bound for the document's size.
  std::size_t scanned_ = 0;
};

}  // namespace

Result<JsonPatch> JsonPatch::parse(std::string_view text) {
  const auto checked = checked_json(text, kTextBytesMax);
  if (!checked) return patch_failure("The patch is not JSON. " + checked.error().message);
  JsonNode root(*checked);
  if (root.kind() != JsonNode::Kind::array) {
    return patch_failure("A patch must be an array of operations.");
  }
  std::size_t scanned = 0;
  auto& nodes = root.open(scanned);
  if (nodes.size() > kOperationsMax) {
    return patch_failure(fmt::format("A patch can have at most {} operations.", kOperationsMax));
  }
  JsonPatch out;
  for (JsonMember& node : nodes) {
    auto operation = OperationReader(node.value, scanned).read();
    if (!operation) {
      return patch_failure(
          fmt::format("Operation {}: {}", out.operations_.size() + 1, operation.error().message));
    }
    out.operations_.push_back(*std::move(operation));
  }
  return out;
}

Result<std::string> JsonPatch::apply(std::string_view document) const {
  const auto checked = checked_json(document, kDocumentBytesMax);
  if (!checked) return patch_failure("The document is not JSON. " + checked.error().message);
  JsonPatcher patcher(*checked);
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const auto done = patcher.run(operations_[i]);
    if (done) continue;
    const auto kind = static_cast<std::size_t>(operations_[i].kind);
    const JsonPointer& path = operations_[i].path;
    return patch_failure(fmt::format("Operation {} ({} \"{}\"): {}.",
                                     i + 1,
                                     kPatchWords[kind].first,
                                     json_pointer_text(path, path.tokens().size()),
                                     done.error().message));
  }
  return patcher.result();
}

}  // namespace redrive::triage
