#include "console/assets.h"

#include <algorithm>
#include <cassert>

namespace redrive::console {
namespace {

constexpr std::string_view kPage = "/console/index.html";

const Asset* find(std::string_view path) {
  const auto all = assets();
  const auto found = std::ranges::lower_bound(all, path, {}, &Asset::path);
  return found != all.end() && found->path == path ? &*found : nullptr;
}

}  // namespace

const Asset& asset_for(std::string_view path) {
  if (const Asset* const asset = find(path)) return *asset;
  const Asset* const page = find(kPage);
  assert(page != nullptr);  // web/embed.mjs refuses to write a table without it.
  return *page;
}

}  // namespace redrive::console
