#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/journal/pages.h"

namespace redrive::journal {

// Writes appended bytes as whole pages, bypassing the page cache. The last page is usually partial:
// it is kept in memory and written again together with the bytes that follow.
class PageWriter {
 public:
  // Writes the parts at `begin`, padded with zeros to the end of their last page. Earlier bytes of
  // the first page are known from the previous write, or are read from the file.
  Result<void> write(File& file, std::uint32_t begin, std::span<const std::string_view> parts);
  // The next write goes to another file.
  void forget() { end_ = 0; }

 private:
  Result<void> load(File& file, std::uint32_t page, std::uint32_t begin);

  Pages pages_;            // Starts with the page in which the last write ended.
  std::uint32_t end_ = 0;  // End of the last write; 0: none in this file yet.
};

}  // namespace redrive::journal
