#pragma once

#include "manage/documents/message_page.h"

// Messages found wherever they are: in queues, bins, archives, or processed after a redrive.

namespace redrive::documents {

struct FindHit {
  std::string_view queue;    // The ARN of the queue it is in, or was in.
  std::string_view state;    // in-queue, in-bin, processed, archived, restored
  std::string_view matched;  // With a text: body, attribute, message-id, ...
  Uuid message_id;
  Uuid lineage_id;
  std::string_view processed_at;   // Of what was processed after a redrive,
  std::string_view job;            // by this job, if it is still known.
  std::string_view archive;        // Where it is, of what was archived.
  std::optional<Message> message;  // Not of what was archived.
};
consteval auto shape_of(FindHit*) {
  using Out = FindHit;
  return wire::shape(wire::required("queue", &Out::queue),
                     wire::required("state", &Out::state),
                     wire::optional("matched", &Out::matched),
                     wire::required("messageId", &Out::message_id),
                     wire::required("lineageId", &Out::lineage_id),
                     wire::optional("processedAt", &Out::processed_at),
                     wire::optional("job", &Out::job),
                     wire::optional("archive", &Out::archive),
                     wire::optional("message", &Out::message));
}

struct FindPage {
  std::string_view mode;  // filter, text: how the query was interpreted
  std::vector<FindHit> hits;
  std::int64_t scanned = 0;              // Messages read for this page.
  std::optional<std::int64_t> total;     // On the first page: messages to read for all pages.
  std::optional<std::string_view> next;  // For the page after this one; absent on the last.
  std::optional<bool> masked;            // As in MessagePage.
};
consteval auto shape_of(FindPage*) {
  using Out = FindPage;
  return wire::shape(wire::required("mode", &Out::mode),
                     wire::optional("hits", &Out::hits).each("hit").always(),
                     wire::required("scanned", &Out::scanned),
                     wire::optional("total", &Out::total),
                     wire::optional("next", &Out::next),
                     wire::optional("masked", &Out::masked));
}

}  // namespace redrive::documents
