#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Texts for parsers that read ahead: simdjson reads up to kTextPadding bytes past the end.

namespace redrive {

inline constexpr std::size_t kTextPadding = 64;

// A view of a text that is followed by kTextPadding readable bytes of any content. Only owners of
// such memory make one: PaddedText, and http::Request for the buffers of connections.
class PaddedView {
 public:
  constexpr std::string_view text() const { return text_; }

  // For memory that its owner keeps followed by the padding.
  static constexpr PaddedView guaranteed(std::string_view text) { return PaddedView(text); }

 private:
  constexpr explicit PaddedView(std::string_view text) : text_(text) {}

  std::string_view text_;
};

// A copy of a text with the padding behind it. Views of it are valid until it is changed or moved.
class PaddedText {
 public:
  PaddedText() : PaddedText(std::string_view()) {}
  explicit PaddedText(std::string_view text) {
    bytes_.reserve(text.size() + kTextPadding);
    bytes_.assign(text).append(kTextPadding, '\0');
  }

  std::string_view text() const {
    return std::string_view(bytes_).substr(0, bytes_.size() - kTextPadding);
  }
  operator PaddedView() const { return PaddedView::guaranteed(text()); }

 private:
  std::string bytes_;
};

}  // namespace redrive
