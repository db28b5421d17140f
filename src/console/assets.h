#pragma once

#include <span>
#include <string_view>

namespace redrive::console {

// A file of the web console, part of the program.
struct Asset {
  std::string_view path;  // As it is asked for: /console/assets/app-XXXX.js.
  std::string_view content_type;
  std::string_view etag;  // With its quotes.
  std::string_view gzip;  // The file, compressed.
  bool hashed = false;    // The path names the contents: they never change.
};

// All files, by path. web/embed.mjs writes the table and the assembler file that holds the bytes.
std::span<const Asset> assets();

// The file at a path; every other path of the console is a view, whose page is index.html.
const Asset& asset_for(std::string_view path);

}  // namespace redrive::console
