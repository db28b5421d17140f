#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redrive {

// A UUID as 16 bytes in network order.
struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  friend auto operator<=>(const Uuid&, const Uuid&) = default;

  // Writes 36 characters at `out`.
  void format(char* out) const;
  std::string text() const;
  static std::optional<Uuid> parse(std::string_view text);
};

// The only source of randomness: version 4 UUIDs, and 64 random bits for everything else.
class IdSource {
 public:
  virtual ~IdSource() = default;
  virtual std::uint64_t bits() = 0;
  Uuid uuid();
  // A 16-byte key for MACs. In production it comes from the operating system.
  virtual std::array<std::uint8_t, 16> secret();
};

// xoshiro256++: fast and reproducible for a given seed. Not cryptographically secure.
class SeededIds : public IdSource {
 public:
  explicit SeededIds(std::uint64_t seed);
  std::uint64_t bits() override;

 protected:
  std::array<std::uint64_t, 4> state_;
};

// Seeded by the operating system.
class RandomIds final : public SeededIds {
 public:
  RandomIds();
  std::array<std::uint8_t, 16> secret() override;
};

}  // namespace redrive
