#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace redrive::store {

// Writes little-endian numbers, and texts with a length prefix. Little-endian machines only;
// asserted here.
static_assert(std::endian::native == std::endian::little);

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void number(T value) { out_.append(reinterpret_cast<const char*>(&value), sizeof(value)); }
  // Writes several numbers with one append, because appending dominates the cost of frequent facts.
  template <class... T>
  void numbers(T... values);
  void raw(std::string_view bytes) { out_.append(bytes); }
  template <std::size_t N>
  void raw(const std::array<std::uint8_t, N>& bytes) {
    out_.append(reinterpret_cast<const char*>(bytes.data()), N);
  }
  void text(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size()));
    raw(text);
  }

 private:
  std::string& out_;
};

// Writes into preallocated memory, without bounds checks or growth.
class BufferWriter {
 public:
  explicit BufferWriter(char* buffer) : at_(buffer) {}

  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void number(T value) { put(&value, sizeof(value)); }
  void raw(std::string_view bytes) {
    if (!bytes.empty()) put(bytes.data(), bytes.size());
  }
  template <std::size_t N>
  void raw(const std::array<std::uint8_t, N>& bytes) {
    put(bytes.data(), N);
  }

  // LEB128: seven bits per byte, least significant first; all but the last byte have the top bit
  // set.
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) *at_++ = static_cast<char>(value | 0x80);
    *at_++ = static_cast<char>(value);
  }

  const char* at() const { return at_; }

 private:
  void put(const void* bytes, std::size_t size) {
    std::memcpy(at_, bytes, size);
    at_ += size;
  }

  char* at_;
};

template <class... T>
void Writer::numbers(T... values) {
  std::array<char, (sizeof(T) + ...)> buffer;
  BufferWriter writer(buffer.data());
  (writer.number(values), ...);
  out_.append(buffer.data(), buffer.size());
}

// Reads what Writer wrote. After the first read past the end, all results are zero or empty and
// ok() is false, so callers check once at the end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T number() {
    T value{};
    const std::string_view from = raw(sizeof(T));
    if (from.size() == sizeof(T)) std::memcpy(&value, from.data(), sizeof(T));
    return value;
  }
  std::string_view raw(std::size_t size) {
    if (size > bytes_.size() - at_) {
      ok_ = false;
      at_ = bytes_.size();
      return {};
    }
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  template <std::size_t N>
  std::array<std::uint8_t, N> array() {
    std::array<std::uint8_t, N> out{};
    const std::string_view from = raw(N);
    if (from.size() == N) std::memcpy(out.data(), from.data(), N);
    return out;
  }
  std::string_view text() { return raw(number<std::uint32_t>()); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ < bytes_.size(); shift += 7) {
      const auto byte = static_cast<std::uint8_t>(bytes_[at_++]);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    refuse();
    at_ = bytes_.size();
    return 0;
  }

  std::size_t position() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }
  bool done() const { return at_ == bytes_.size(); }
  bool ok() const { return ok_; }
  void refuse() { ok_ = false; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace redrive::store
