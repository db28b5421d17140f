#pragma once

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/padded_text.h"

namespace redrive::wire {

// A body as provided by net/http: followed by 64 readable bytes of any content, and nothing else,
// so that a sanitizer detects a read of the 65th.
class Padded {
 public:
  explicit Padded(std::string_view text, char padding = '}') : size_(text.size()) {
    bytes_ = std::make_unique<char[]>(size_ + 64);
    text.copy(bytes_.get(), size_);
    std::fill_n(bytes_.get() + size_, 64, padding);
  }

  operator std::string_view() const { return {bytes_.get(), size_}; }
  operator PaddedView() const { return PaddedView::guaranteed(*this); }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_;
};

}  // namespace redrive::wire
