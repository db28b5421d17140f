#include "core/queue/change.h"

#include <memory>

namespace redrive::queue {

namespace {

// The copy, move and destroy operations of one kind of fact; null if it is trivially destructible.
struct FactOperations {
  void (*copy)(void* to, const void* from);
  void (*move)(void* to, void* from);
  void (*end)(void* fact);
};

template <typename Fact>
constexpr FactOperations operations_of() {
  static_assert(std::is_nothrow_move_constructible_v<Fact>);
  static_assert(alignof(Fact) <= alignof(std::max_align_t));
  FactOperations operations{
      [](void* to, const void* from) { ::new (to) Fact(*static_cast<const Fact*>(from)); },
      [](void* to, void* from) { ::new (to) Fact(std::move(*static_cast<Fact*>(from))); },
      nullptr};
  if constexpr (!std::is_trivially_destructible_v<Fact>) {
    operations.end = [](void* fact) { std::destroy_at(static_cast<Fact*>(fact)); };
  }
  return operations;
}

template <typename... Facts>
constexpr auto operations_of_all(FactList<Facts...>) {
  return std::array{operations_of<Facts>()...};
}

constexpr auto kOperations = operations_of_all(AllFacts{});

}  // namespace

Change::Change(const Change& other) : which_{other.which_} {
  kOperations[which_].copy(held_, other.held_);
}

Change::Change(Change&& other) noexcept : which_{other.which_} {
  kOperations[which_].move(held_, other.held_);
}

Change& Change::operator=(const Change& other) {
  return *this = Change(other);
}

Change& Change::operator=(Change&& other) noexcept {
  if (this == &other) return *this;
  std::destroy_at(this);
  return *std::construct_at(this, std::move(other));
}

Change::~Change() {
  if (const auto end = kOperations[which_].end) end(held_);
}

}  // namespace redrive::queue
