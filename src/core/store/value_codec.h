#pragma once

#include <memory>
#include <vector>

#include "core/queue/change.h"
#include "core/store/bytes.h"

// On-disk encoding of the values in facts.

namespace redrive::store {

void put(Writer& w, const queue::QueueIdentity& identity);
queue::QueueIdentity get_identity(Reader& r);
void put(Writer& w, const queue::Tags& tags);
queue::Tags get_tags(Reader& r);
void put(Writer& w, const queue::QueueSettings& s);
queue::QueueSettings get_settings(Reader& r);
void put(Writer& w, const queue::RetryCounts& retries);
queue::RetryCounts get_retries(Reader& r);
void put(Writer& w, const queue::History& h);
std::shared_ptr<queue::History> get_history(Reader& r);
void put(Writer& w, const queue::TaskPlan& plan);
queue::TaskPlan get_plan(Reader& r);
void put(Writer& w, const queue::TaskCounts& counts);
queue::TaskCounts get_counts(Reader& r);
void put(Writer& w, const std::vector<queue::NameIndex>& names);
std::vector<queue::NameIndex> get_names(Reader& r);

// Inline: used by the facts of every message.

inline void put(Writer& w, Timestamp t) {
  w.number(t.ms());
}

inline Timestamp get_time(Reader& r) {
  return Timestamp(r.number<std::int64_t>());
}

inline void put(Writer& w, const queue::BodyRef& body) {
  w.number(body.segment);
  w.number(body.offset);
  w.number(body.size);
}

inline queue::BodyRef get_body(Reader& r) {
  queue::BodyRef body;
  body.segment = r.number<std::uint32_t>();
  body.offset = r.number<std::uint32_t>();
  body.size = r.number<std::uint32_t>();
  return body;
}

inline void put_keys(Writer& w, std::uint8_t count,
                     const std::array<queue::MessageKey, queue::kReceiveMax>& keys) {
  w.number(count);
  for (std::size_t i = 0; i < count; ++i) w.number(keys[i]);
}

inline std::uint8_t get_keys(Reader& r, std::array<queue::MessageKey, queue::kReceiveMax>& keys) {
  const auto count = r.number<std::uint8_t>();
  if (count > queue::kReceiveMax) r.refuse();
  for (std::size_t i = 0; i < count && r.ok(); ++i) keys[i] = r.number<queue::MessageKey>();
  return count;
}

}  // namespace redrive::store
