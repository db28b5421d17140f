#include "net/wire/sensitive.h"

namespace redrive::wire {
namespace {

// Walks over values like the encoders, but may modify them.
class SensitiveWalk {
 public:
  explicit SensitiveWalk(const Rewrite& rewrite) : rewrite_(rewrite) {}

  void record(const Record& record, void* value, std::string_view name) const {
    for (const Field& field : record.fields) {
      any(*field.type, field.in(value), name, field.traits.sensitive);
    }
  }

 private:
  void any(const Type& type, void* value, std::string_view name, bool sensitive) const {
    switch (type.kind) {
      case Kind::text: {
        auto& text = *static_cast<std::string_view*>(value);
        if (sensitive) text = rewrite_(name, text);
        return;
      }
      case Kind::blob: {
        auto& blob = *static_cast<Blob*>(value);
        if (sensitive) blob.bytes = rewrite_(name, blob.bytes);
        return;
      }
      case Kind::optional: {
        const void* const held = type.held(value);
        if (held != nullptr) any(*type.inner, const_cast<void*>(held), name, sensitive);
        return;
      }
      case Kind::list:
      case Kind::map:
        return items(type, value, name, sensitive);
      case Kind::record:
        return record(*type.record, value, name);
      default:
        return;
    }
  }

  void items(const Type& type, void* items, std::string_view name, bool sensitive) const {
    for (std::size_t i = 0; i < type.size(items); ++i) {
      const std::string_view inner = type.kind == Kind::map ? type.key(items, i) : name;
      any(*type.inner, const_cast<void*>(type.item(items, i)), inner, sensitive);
    }
  }

  const Rewrite& rewrite_;
};

}  // namespace

void rewrite_sensitive(const Record& record, void* value, const Rewrite& rewrite) {
  SensitiveWalk(rewrite).record(record, value, {});
}

}  // namespace redrive::wire
