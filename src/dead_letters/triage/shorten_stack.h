#pragma once

#include <string>
#include <string_view>

namespace redrive::triage {

// A stack trace in at most `bytes_max` bytes. Every error of a chain of causes keeps its header and
// its innermost frames; of more than six errors, the outermost and the last five are kept. A text
// that fits is not changed.
std::string shorten_stack(std::string_view text, std::size_t bytes_max);

}  // namespace redrive::triage
