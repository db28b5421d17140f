#include "core/journal/page_writer.h"

#include <algorithm>

namespace redrive::journal {
namespace {

// Allocated beyond what a write needs, because writes grow with the load.
constexpr std::size_t kHeadroomBytes = 64u << 10;

}  // namespace

Result<void> PageWriter::write(File& file, std::uint32_t begin,
                               std::span<const std::string_view> parts) {
  std::size_t bytes = 0;
  for (const std::string_view part : parts) bytes += part.size();
  const std::uint32_t first = page_of(begin);
  const auto end = static_cast<std::uint32_t>(begin + bytes);
  const auto after = static_cast<std::uint32_t>(whole_pages(end));
  pages_.grow(after - first + kHeadroomBytes, end_ > 0 ? end_ - page_of(end_) : 0);
  RETURN_IF_ERROR(load(file, first, begin));

  char* out = pages_.data() + (begin - first);
  for (const std::string_view part : parts) out = std::copy(part.begin(), part.end(), out);
  std::fill(out, pages_.data() + (after - first), '\0');
  RETURN_IF_ERROR(file.write_pages(first, {pages_.data(), after - first}));
  end_ = end;
  std::memmove(pages_.data(), pages_.data() + (page_of(end) - first), end - page_of(end));
  return {};
}

Result<void> PageWriter::load(File& file, std::uint32_t page, std::uint32_t begin) {
  if (begin == end_ || begin == page) return {};
  const std::size_t wanted = begin - page;
  const std::size_t got = TRY(file.read(page, pages_.data(), wanted));
  std::fill(pages_.data() + got, pages_.data() + wanted, '\0');  // Past the end of the file.
  return {};
}

}  // namespace redrive::journal
