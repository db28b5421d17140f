#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace redrive::topology {

// A command line that a POSIX shell splits into exactly these words.
std::string shell_command(std::initializer_list<std::string_view> words);

}  // namespace redrive::topology
