#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/queue/send.h"
#include "core/store/message_codec.h"

namespace redrive::dispatch {

// A message created by the server, ready to be sent.
class Letter {
 public:
  struct Contents {
    std::string_view body;
    std::string_view sender = {};
    std::string_view trace = {};
    std::string_view group = {};  // FIFO only, like the next.
    std::string_view dedup = {};
    std::span<const store::AttributeView> attributes = {};  // Sorted by name.
  };
  explicit Letter(const Contents& contents);

  queue::Draft draft() const;

 private:
  std::string tail_;
  std::string group_;
  std::string dedup_;
};

std::vector<queue::Draft> drafts_of(const std::vector<Letter>& letters);

}  // namespace redrive::dispatch
