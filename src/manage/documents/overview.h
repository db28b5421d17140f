#pragma once

#include <cstdint>
#include <string>

#include "manage/documents/jobs.h"
#include "net/wire/shape.h"

// The data of `redrive top`, which requests it once a second. Counters start with the server: rates
// are differences of two answers.

namespace redrive::documents {

struct QueueOverview {
  std::string_view name;
  bool fifo = false;
  std::int64_t visible = 0;
  std::int64_t in_flight = 0;
  std::int64_t delayed = 0;
  std::int64_t oldest_age_seconds = 0;
  std::int64_t sent = 0;
  std::int64_t received = 0;
  std::int64_t deleted = 0;
  std::int64_t dead_lettered = 0;       // Came here as dead letters.
  std::int64_t dead_lettered_away = 0;  // Left here for a dead-letter queue.
  std::int64_t redriven = 0;            // Left here by a redrive.
  std::int64_t expired = 0;
  std::int64_t damaged = 0;  // Messages whose bytes cannot be read, now set aside.
  std::optional<std::string_view> dead_letter_queue;  // Its dead-letter queue.
  std::vector<std::string_view> sources;  // Queues that use this one as their dead-letter queue.
};
consteval auto shape_of(QueueOverview*) {
  using Out = QueueOverview;
  return wire::shape(wire::required("name", &Out::name),
                     wire::required("fifo", &Out::fifo),
                     wire::required("visible", &Out::visible),
                     wire::required("inFlight", &Out::in_flight),
                     wire::required("delayed", &Out::delayed),
                     wire::required("oldestAgeSeconds", &Out::oldest_age_seconds),
                     wire::required("sent", &Out::sent),
                     wire::required("received", &Out::received),
                     wire::required("deleted", &Out::deleted),
                     wire::required("deadLettered", &Out::dead_lettered),
                     wire::required("deadLetteredAway", &Out::dead_lettered_away),
                     wire::required("redriven", &Out::redriven),
                     wire::required("expired", &Out::expired),
                     wire::optional("damaged", &Out::damaged),
                     wire::optional("deadLetterQueue", &Out::dead_letter_queue),
                     wire::optional("sources", &Out::sources).each("source"));
}

// What feeds a function: a mapping with its queue, or its asynchronous invocations.
struct HandlerOverview {
  std::string_view function;
  std::optional<std::string_view> mapping;    // UUID; absent: asynchronous invocations.
  std::optional<std::string_view> queue_arn;  // With a mapping.
  bool enabled = true;
  bool polling = false;  // False though enabled: it cannot run, and the log says why.
  std::int64_t running = 0;
  std::int64_t limit = 0;      // Of batches at once; 0: not known.
  std::int64_t limit_max = 0;  // What it may grow to; 0: not known.
  // Why the limit is below what it has grown to: errors, throttling, function-processes.
  std::optional<std::string_view> slowed_by;
  std::int64_t runs = 0;
  std::int64_t messages = 0;  // Passed to the function.
  std::int64_t failed = 0;    // Of those.
  std::int64_t throttles = 0;
};
consteval auto shape_of(HandlerOverview*) {
  using Out = HandlerOverview;
  return wire::shape(wire::required("function", &Out::function),
                     wire::optional("mapping", &Out::mapping),
                     wire::optional("queueArn", &Out::queue_arn),
                     wire::required("enabled", &Out::enabled),
                     wire::required("polling", &Out::polling),
                     wire::required("running", &Out::running),
                     wire::required("limit", &Out::limit),
                     wire::optional("limitMax", &Out::limit_max),
                     wire::optional("slowedBy", &Out::slowed_by),
                     wire::required("runs", &Out::runs),
                     wire::required("messages", &Out::messages),
                     wire::required("failed", &Out::failed),
                     wire::required("throttles", &Out::throttles));
}

// One that outlives its document.
struct KeptHandler {
  std::string account;
  std::string region;
  std::string function;
  std::string mapping;
  std::string queue_arn;
  HandlerOverview counts;  // Without its texts.
};

// Members of queues and handlers differ: the server has current values, `redrive top` adds changes.
template <class Queue, class Handler>
struct OverviewOf {
  std::string_view now;
  std::int64_t queue_count = 0;  // All that the caller may see, like the sums.
  std::int64_t visible = 0;
  std::int64_t in_flight = 0;
  std::int64_t delayed = 0;
  std::int64_t dead_letters = 0;  // Messages in dead-letter queues.
  std::vector<Queue> queues;      // The longest first, as many as were asked for.
  std::vector<Handler> handlers;
  std::vector<Job> jobs;  // Unfinished jobs, and a few that ended recently.
};
template <class Queue, class Handler>
consteval auto shape_of(OverviewOf<Queue, Handler>*) {
  using Out = OverviewOf<Queue, Handler>;
  return wire::shape(wire::required("now", &Out::now),
                     wire::required("queueCount", &Out::queue_count),
                     wire::required("visible", &Out::visible),
                     wire::required("inFlight", &Out::in_flight),
                     wire::required("delayed", &Out::delayed),
                     wire::required("deadLetters", &Out::dead_letters),
                     wire::optional("queues", &Out::queues).each("queue").always(),
                     wire::optional("handlers", &Out::handlers).each("handler").always(),
                     wire::optional("jobs", &Out::jobs).each("job").always());
}

using Overview = OverviewOf<QueueOverview, HandlerOverview>;

}  // namespace redrive::documents
