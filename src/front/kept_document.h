#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/padded_text.h"
#include "net/wire/decoder.h"

namespace redrive::front {

// A document read from the catalogue, with the bytes that its views point into. Texts
// that are assigned to it must outlive it.
template <class T>
class KeptDocument {
 public:
  explicit KeptDocument(std::string_view text) : held_(std::make_unique<Held>()) {
    held_->bytes = PaddedText(text);
    ok_ = wire::decode_json(held_->decoder, held_->bytes, held_->value).has_value();
  }
  // False: the stored bytes are not such a document.
  bool ok() const { return ok_; }
  T* operator->() { return &held_->value; }
  T& operator*() { return held_->value; }

 private:
  struct Held {
    PaddedText bytes;
    wire::Decoder decoder;
    T value;
  };
  std::unique_ptr<Held> held_;
  bool ok_ = false;
};

}  // namespace redrive::front
