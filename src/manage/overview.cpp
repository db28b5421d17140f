// Everything at one glance: queues, handlers and jobs.

#include <algorithm>
#include <map>

#include "base/calendar.h"
#include "core/queue/hidden_queues.h"
#include "front/authorize.h"
#include "manage/operations.h"

namespace redrive::manage {
namespace {

constexpr std::size_t kOverviewQueues = 100;
constexpr std::size_t kOverviewSourcesMax = 20;
constexpr std::size_t kOverviewHandlersMax = 1'000;
constexpr std::size_t kOverviewJobsOver = 3;
constexpr std::size_t kSurveyedPerTurn = 64;

std::int64_t signed_count(std::uint64_t count) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(count, INT64_MAX));
}

std::string_view overview_name(std::string_view arn) {
  return arn.substr(arn.rfind(':') + 1);
}

bool is_of(const front::Caller& caller, std::string_view account, std::string_view region) {
  return caller.account == account && caller.region == region;
}

// Reads queues a few at a time, so that monitoring delays no request.
class QueueSurvey {
 public:
  explicit QueueSurvey(Call& call) : call_(call) {}

  void run(documents::Overview& out, std::size_t max) {
    queue::QueueIdentity after;
    const auto look =
        [&](const queue::State& state, queue::Queue& queue, const queue::Stamp& stamp) {
          if (is_of(call_.caller, queue.identity.account, queue.identity.region) &&
              call_.sees(state, queue.identity))
            add(state, queue, stamp);
        };
    while (call_.parts.engine.survey(after, kSurveyedPerTurn, look)) {
      call_.parts.engine.give_way();
      // Never within a turn: reserving space for all of them takes long.
      if (queues_.capacity() - queues_.size() < kSurveyedPerTurn) {
        queues_.reserve(2 * queues_.capacity() + kSurveyedPerTurn);
      }
    }
    join_sources();
    sum_up(out);
    out.queues = longest(max);
  }

 private:
  void add(const queue::State& state, queue::Queue& queue, const queue::Stamp& stamp) {
    const queue::Mailbox& box = state.mailbox(queue);
    const queue::Traffic& traffic = queue.traffic;
    documents::QueueOverview view{.name = call_.keep(queue.identity.name),
                                  .fifo = box.is_fifo(),
                                  .visible = signed_count(box.visible()),
                                  .in_flight = signed_count(box.in_flight()),
                                  .delayed = signed_count(box.delayed()),
                                  .sent = signed_count(traffic.sent),
                                  .received = signed_count(traffic.received),
                                  .deleted = signed_count(traffic.deleted),
                                  .dead_lettered = signed_count(traffic.dead_lettered),
                                  .dead_lettered_away = signed_count(traffic.dead_lettered_away),
                                  .redriven = signed_count(traffic.redriven),
                                  .expired = signed_count(traffic.expired)};
    if (!state.damaged_queues().empty()) {
      const queue::Queue* damaged = state.find(queue::damaged_of(queue.identity));
      if (damaged != nullptr) view.damaged = signed_count(state.mailbox(*damaged).size());
    }
    if (call_.parts.oldest_age) {
      view.oldest_age_seconds = call_.parts.oldest_age(state, queue, stamp).count() / 1000;
    }
    if (const auto& policy = queue.settings.redrive) {
      view.dead_letter_queue = overview_name(call_.keep(policy->target_arn));
    }
    queues_.push_back(std::move(view));
  }

  void join_sources() {
    std::map<std::string_view, documents::QueueOverview*> by_name;
    for (auto& queue : queues_) by_name[queue.name] = &queue;
    for (const auto& queue : queues_) {
      if (!queue.dead_letter_queue) continue;
      const auto target = by_name.find(*queue.dead_letter_queue);
      if (target == by_name.end() || target->second->sources.size() >= kOverviewSourcesMax)
        continue;
      target->second->sources.push_back(queue.name);
    }
  }

  void sum_up(documents::Overview& out) const {
    out.queue_count = signed_count(queues_.size());
    for (const auto& queue : queues_) {
      out.visible += queue.visible;
      out.in_flight += queue.in_flight;
      out.delayed += queue.delayed;
      if (!queue.sources.empty()) out.dead_letters += backlog(queue);
    }
  }

  static std::int64_t backlog(const documents::QueueOverview& queue) {
    return queue.visible + queue.in_flight + queue.delayed;
  }

  std::vector<documents::QueueOverview> longest(std::size_t max) {
    const auto longer = [](const auto& a, const auto& b) {
      return backlog(a) != backlog(b) ? backlog(a) > backlog(b) : a.name < b.name;
    };
    const std::size_t kept = std::min(max, queues_.size());
    std::partial_sort(queues_.begin(),
                      queues_.begin() + static_cast<std::ptrdiff_t>(kept),
                      queues_.end(),
                      longer);
    queues_.resize(kept);
    return std::move(queues_);
  }

  Call& call_;
  std::vector<documents::QueueOverview> queues_;
};

std::vector<documents::HandlerOverview> handlers_of(Call& call) {
  std::vector<documents::HandlerOverview> found;
  if (!call.parts.handlers) return found;
  for (documents::KeptHandler& handler : call.parts.handlers()) {
    if (found.size() >= kOverviewHandlersMax) break;
    if (!is_of(call.caller, handler.account, handler.region)) continue;
    if (!call.sees_function(handler.account, handler.region, handler.function)) continue;
    documents::HandlerOverview view = handler.counts;
    view.function = call.keep(std::move(handler.function));
    if (!handler.mapping.empty()) {
      const auto queue = front::identity_from_arn(handler.queue_arn);
      if (queue && !call.sees(*queue)) continue;
      view.mapping = call.keep(std::move(handler.mapping));
      view.queue_arn = call.keep(std::move(handler.queue_arn));
    }
    found.push_back(view);
  }
  return found;
}

// The latest come first, so jobs that have just ended precede older ones.
std::vector<documents::Job> jobs_worth_seeing(std::vector<documents::Job> jobs) {
  std::size_t over = 0;
  std::erase_if(jobs, [&](const documents::Job& job) {
    return job.ended_at.has_value() && ++over > kOverviewJobsOver;
  });
  return jobs;
}

}  // namespace

Result<documents::Overview> show_overview(Call& call) {
  return overview(call, TRY(call.query_number("limit", kOverviewQueues, kOverviewQueuesMax)));
}

Result<documents::Overview> overview(Call& call, std::size_t max) {
  documents::Overview out;
  const Timestamp wall =
      call.parts.engine.turn([](engine::Turn& turn) { return turn.stamp().wall; });
  out.now = call.keep(format_utc(wall));
  QueueSurvey(call).run(out, max);
  out.handlers = handlers_of(call);
  out.jobs = jobs_worth_seeing(TRY(list_jobs(call)).jobs);
  return out;
}

}  // namespace redrive::manage
