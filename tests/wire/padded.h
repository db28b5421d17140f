#pragma once

#include <algorithm>
#include <memory>
#include <string_view>

namespace redrive::wire {

// A body as the http room hands it over: 64 readable bytes follow, of any content. Nothing else
// does, so that a sanitizer sees the 65th being read.
class Padded {
 public:
  explicit Padded(std::string_view text, char padding = '}') : size_(text.size()) {
    bytes_ = std::make_unique<char[]>(size_ + 64);
    text.copy(bytes_.get(), size_);
    std::fill_n(bytes_.get() + size_, 64, padding);
  }

  operator std::string_view() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_;
};

}  // namespace redrive::wire
