#include "net/auth/profile.h"

#include "base/text.h"

namespace redrive::auth {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// A trailing comment must be preceded by a blank: keys may contain '#' and ';'.
std::string_view without_comment(std::string_view line) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    const bool sign = line[at] == '#' || line[at] == ';';
    if (sign && (at == 0 || kBlank.find(line[at - 1]) != std::string_view::npos)) {
      return line.substr(0, at);
    }
  }
  return line;
}

struct ProfileReader {
  Sections sections;
  Section* current = nullptr;
  std::string parent;

  void open(std::string_view header) {
    const std::size_t close = header.find(']');
    current = nullptr;
    if (close == std::string_view::npos) return;
    current = &sections[std::string(trim(header.substr(1, close - 1)))];
    parent.clear();
  }

  void set(std::string_view line, bool indented) {
    const std::size_t equals = line.find('=');
    if (current == nullptr || equals == std::string_view::npos) return;
    const std::string name(trim(line.substr(0, equals)));
    const std::string value(trim(line.substr(equals + 1)));
    const bool nested = indented && !parent.empty();
    if (!nested) parent = value.empty() ? name : "";
    (*current)[nested ? parent + "." + name : name] = value;
  }
};

}  // namespace

Sections parse_profiles(std::string_view text) {
  ProfileReader reader;
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view line = trim(without_comment(raw));
    if (line.empty()) continue;
    const bool indented = raw.front() == ' ' || raw.front() == '\t';
    if (line.front() == '[') {
      reader.open(line);
    } else {
      reader.set(line, indented);
    }
  }
  return reader.sections;
}

}  // namespace redrive::auth
