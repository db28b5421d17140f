#include "dead_letters/triage/field_pairs.h"

#include "dead_letters/triage/filter_text.h"

namespace redrive::triage {
namespace {

const JsonField kAbsent;

// Pairs the fields below a field that exists on both sides.
class Pairing {
 public:
  Pairing(const JsonFields& dead, const JsonFields& processed)
      : dead_(dead),
        processed_(processed),
        dead_children_(children_of(dead)),
        processed_children_(children_of(processed)) {}

  std::vector<FieldPair> run() {
    below(0, 0, {.path = "", .filter = "body.$", .place = {"body"}});
    return std::move(pairs_);
  }

 private:
  using Index = std::optional<std::uint16_t>;
  using Children = std::vector<std::vector<std::uint16_t>>;

  static Children children_of(const JsonFields& fields) {
    Children children(fields.all().size());
    for (std::uint16_t i = 1; i < fields.all().size(); ++i) {
      children[fields.all()[i].parent].push_back(i);
    }
    return children;
  }

  // Recursion depth is at most JsonFields::kDepthMax.
  void below(Index dead, Index processed, const FieldPair& above) {
    if (dead) {
      for (const std::uint16_t child : dead_children_[*dead]) {
        const JsonField& field = dead_.all()[child];
        pair(child, counterpart(processed_, processed, field), field, processed, above);
      }
    }
    if (!processed) return;
    for (const std::uint16_t child : processed_children_[*processed]) {
      const JsonField& field = processed_.all()[child];
      if (counterpart(dead_, dead, field)) continue;  // Already paired above.
      const bool unknown = dead && dead_.all()[*dead].children_full;
      if (!unknown) add({}, child, field, above);
    }
  }

  static Index counterpart(const JsonFields& side, Index parent, const JsonField& field) {
    return parent ? side.find(*parent, field.name, field.in_array) : std::nullopt;
  }

  void pair(std::uint16_t dead, Index processed, const JsonField& field, Index processed_parent,
            const FieldPair& above) {
    const bool unknown =
        !processed && processed_parent && processed_.all()[*processed_parent].children_full;
    if (!unknown) add(dead, processed, field, above);
  }

  void add(Index dead, Index processed, const JsonField& field, const FieldPair& above) {
    FieldPair pair = above;
    pair.dead = dead ? &dead_.all()[*dead] : &kAbsent;
    pair.processed = processed ? &processed_.all()[*processed] : &kAbsent;
    if (field.in_array) {
      pair.path += "[]";
      pair.filter += "[*]";
      pair.place.push_back("[]");
    }
    if (!pair.path.empty()) pair.path += '.';
    pair.path += field.name;
    pair.filter += filter_path_step(field.name);
    pair.place.push_back(field.name);
    pairs_.push_back(pair);
    below(dead, processed, pair);
  }

  const JsonFields& dead_;
  const JsonFields& processed_;
  Children dead_children_;
  Children processed_children_;
  std::vector<FieldPair> pairs_;
};

}  // namespace

std::vector<FieldPair> pair_fields(const JsonFields& dead, const JsonFields& processed) {
  return Pairing(dead, processed).run();
}

}  // namespace redrive::triage
