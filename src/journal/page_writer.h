#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "journal/pages.h"

namespace redrive::journal {

// Writes what is appended to a file as whole pages, past the system's cache. The page it ends in is
// rarely full: it is kept, and written again with what follows it.
class PageWriter {
 public:
  // The parts begin at `begin`, and zeros follow them up to the end of their last page. What is
  // before them in their first page is known from the last write, or is read.
  Result<void> write(File& file, std::uint32_t begin, std::span<const std::string_view> parts);
  // What comes next goes to another file.
  void forget() { end_ = 0; }

 private:
  Result<void> load(File& file, std::uint32_t page, std::uint32_t begin);

  Pages pages_;            // Begins with the page that the last write ended in.
  std::uint32_t end_ = 0;  // Of the last write; 0: there was none in this file.
};

}  // namespace redrive::journal
