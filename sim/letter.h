#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "core/queue/ids.h"
#include "core/queue/send.h"
#include "sim/chance.h"

namespace redrive::sim {

// A message as its sender wrote it, kept outside the server to be compared with what consumers get.
struct Letter {
  struct Attribute {
    std::string name;
    std::string type;
    std::string value;
  };
  std::string body;
  std::string group;
  std::string dedup;
  std::string sender;
  std::string trace;
  std::vector<Attribute> attributes;
  std::optional<std::chrono::seconds> delay;
  std::string tail;  // All of that, as encoded by the store.

  // Known once it was accepted.
  queue::MessageKey key{};
  queue::QueueKey queue{};
  Uuid message_id;
  Timestamp sent_wall;
  Timestamp visible_at;
};

// The kinds of letters that a queue accepts.
enum class Post { standard, fifo };

Letter write_letter(Chance& chance, Post post, std::size_t body_bytes_max);
queue::Draft draft_of(const Letter& letter);
// The letter with another body, and the bytes to store for it.
Letter rewrite_letter(Chance& chance, const Letter& letter, std::size_t body_bytes_max);
std::string stored_bytes(const Letter& letter);

// Requires the stored bytes to be exactly those of the letter.
void stored_bytes_are_the_letters(std::string_view stored, const Letter& letter);

}  // namespace redrive::sim
