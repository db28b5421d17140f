#include "dead_letters/triage/stack_trace.h"

#include <algorithm>

#include "dead_letters/triage/characters.h"
#include "dead_letters/triage/frame.h"

// Chained errors have one section each. Python and C# print the root cause first, Java and Node
// last; within a section only Python prints the innermost call last. Chains reported by runtimes as
// documents are stored in Java's form ("Caused by: TYPE: MESSAGE"), for every language.

namespace redrive::triage {
namespace {

constexpr std::size_t kFramesMax = 256;  // Per section.
constexpr std::size_t kSectionsMax = 8;
constexpr std::size_t kTypeBytesMax = 128;

struct Section {
  std::string type;
  std::string message;
  std::vector<Frame> frames;
  bool ignored = false;  // Java's suppressed errors.
};

// A name such as KeyError or com.acme.OrderException, alone or before a colon.
bool is_type(std::string_view name) {
  const auto in_type = [](char c) { return is_word(c) || c == '.' || c == '$' || c == '`'; };
  return !name.empty() && name.size() <= kTypeBytesMax && is_letter(name[0]) &&
         std::ranges::all_of(name, in_type);
}

class TraceReader {
 public:
  explicit TraceReader(std::string_view text) : text_(text) { sections_.emplace_back(); }

  StackTrace read() {
    while (!text_.empty() && !done_) line(next_line());
    if (innermost_last_) {
      for (Section& section : sections_) std::ranges::reverse(section.frames);
    }
    return result();
  }

 private:
  std::string_view next_line() {
    const std::size_t end = std::min(text_.find('\n'), text_.size());
    const std::string_view line = text_.substr(0, end);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    return line;
  }

  std::string_view peek_line() const { return text_.substr(0, text_.find('\n')); }

  void line(std::string_view raw) {
    std::string_view text = trim(raw);
    while (text.starts_with("| ")) text = trim(text.substr(2));  // Python's exception groups.
    if (text.empty()) return;
    if (boundary(text)) return;
    if (auto frame = python_frame(text)) {
      innermost_last_ = true;
      return add(std::move(*frame));
    }
    if (text.starts_with("at ")) {
      if (auto frame = at_frame(text.substr(3))) return add(std::move(*frame));
    }
    if (go(raw)) return;
    const bool indented = is_space(raw[0]);
    if (!indented || text.starts_with("---> ")) header(text);
  }

  // Lines between one error and the next.
  bool boundary(std::string_view text) {
    if (text.starts_with("During handling of the above exception") ||
        text.starts_with("The above exception was the direct cause")) {
      begin_section();
    } else if (text.starts_with("--- End of inner exception stack trace")) {
      root_first_ = true;
      begin_section();
    } else if (text.starts_with("Caused by: ")) {
      caused_by_ = true;
      begin_section();
      header(text.substr(11));
    } else if (text.starts_with("[cause]: ")) {
      begin_section();
      header(text.substr(9));
    } else if (text.starts_with("Suppressed: ")) {
      begin_section();
      sections_.back().ignored = true;
    } else {
      return text.starts_with("Traceback (most recent call last)");
    }
    return true;
  }

  bool go(std::string_view raw) {
    if (raw.starts_with("goroutine ")) {
      done_ = !sections_.back().frames.empty();  // Other goroutines are only waiting.
      return true;
    }
    if (raw.starts_with("created by ")) {
      next_line();
      return true;
    }
    auto frame = is_space(raw[0]) ? std::nullopt : go_frame(raw, peek_line());
    if (!frame) return false;
    next_line();
    add(std::move(*frame));
    return true;
  }

  // "KeyError: 'x'", and C#'s "System.A: m ---> System.B: n", where B is the cause of A.
  void header(std::string_view text) {
    const std::size_t arrow = std::min(text.find("---> "), text.size());
    name_error(trim(text.substr(0, arrow)));
    if (arrow == text.size()) return;
    const std::string_view inner = text.substr(text.rfind("---> ") + 5);
    const std::string_view type = inner.substr(0, inner.find(": "));
    if (is_type(type)) inner_type_ = type;
  }

  void name_error(std::string_view text) {
    Section& section = sections_.back();
    // Python names the error after its frames; elsewhere a line after the frames is not a header.
    const bool before_frames = !innermost_last_ || caused_by_;
    const bool expected = section.frames.empty() == before_frames;
    if (!expected || !section.type.empty()) return;
    text = without_preface(text);
    const std::size_t colon = std::min(text.find(": "), text.size());
    if (!is_type(text.substr(0, colon))) return;
    section.type = text.substr(0, colon);
    section.message = trim(text.substr(std::min(colon + 1, text.size())));
  }

  // Prefixes of loggers and runtimes: [ERROR], Exception in thread "main".
  static std::string_view without_preface(std::string_view text) {
    if (text.starts_with('[')) text.remove_prefix(std::min(text.find(']') + 1, text.size()));
    text = trim(text);
    if (text.starts_with("Exception in thread ")) text = trim(text.substr(text.rfind("\" ") + 1));
    for (const std::string_view preface : {"Uncaught ", "Unhandled exception. "}) {
      if (text.starts_with(preface)) text.remove_prefix(preface.size());
    }
    return text;
  }

  void begin_section() {
    if (sections_.size() < kSectionsMax) sections_.emplace_back();
  }

  void add(Frame frame) {
    std::vector<Frame>& frames = sections_.back().frames;
    const bool repeated = !frames.empty() && frames.back() == frame;
    if (repeated) return;
    // If the innermost frame comes last, drop the oldest; otherwise ignore the rest.
    if (frames.size() >= kFramesMax && innermost_last_) frames.erase(frames.begin());
    if (frames.size() < kFramesMax) frames.push_back(std::move(frame));
  }

  StackTrace result() {
    std::erase_if(sections_, [](const Section& s) { return s.ignored; });
    StackTrace trace;
    if (sections_.empty()) return trace;
    const bool outer_last = innermost_last_ && !caused_by_;
    const Section& outer = outer_last ? sections_.back() : sections_.front();
    trace.error_type = outer.type;
    trace.error_message = outer.message;
    if (!outer_last && !root_first_) std::ranges::reverse(sections_);
    if (!inner_type_.empty()) trace.error_types.push_back(inner_type_);
    for (const Section& section : sections_) {
      if (!section.type.empty()) trace.error_types.push_back(section.type);
    }
    trace.frames = std::move(chosen().frames);
    return trace;
  }

  // The section closest to the root cause that went through the application, or that has frames at
  // all.
  Section& chosen() {
    const auto in_app = [](const Section& s) {
      return std::ranges::any_of(s.frames, &Frame::in_app);
    };
    const auto any = [](const Section& s) { return !s.frames.empty(); };
    auto found = std::ranges::find_if(sections_, in_app);
    if (found == sections_.end()) found = std::ranges::find_if(sections_, any);
    return found == sections_.end() ? sections_.front() : *found;
  }

  std::string_view text_;
  std::vector<Section> sections_;
  std::string inner_type_;       // C#: the type of the inner error, which shares a header.
  bool innermost_last_ = false;  // Python.
  bool root_first_ = false;      // C#.
  bool caused_by_ = false;       // Causes follow what they caused, in any language.
  bool done_ = false;
};

}  // namespace

StackTrace parse_stack_trace(std::string_view text) {
  return TraceReader(text.substr(0, kTraceBytesRead)).read();
}

}  // namespace redrive::triage
