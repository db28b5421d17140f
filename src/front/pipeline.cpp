#include "front/pipeline.h"

#include <utility>

#include "base/result.h"

namespace redrive::front {

// State for answers. Responders share it, because they can outlive the service.
struct Pipeline::State : std::enable_shared_from_this<State> {
  State(ApiTraits the_traits, Parts&& parts)
      : traits(std::move(the_traits)),
        gate(parts.gate),
        telemetry(std::move(parts.observers), std::string(traits.name), traits.actions),
        recorded(std::move(parts.recorded)) {}

  const ApiTraits traits;
  const Gate& gate;
  const RequestTelemetry telemetry;
  const std::function<http::SyncPoint()> recorded;

  Refusal resolved(const Refusal& refusal) const {
    if (!refusal.unresolved) return refusal;
    Refusal found = traits.refusal_of({*refusal.unresolved, refusal.message});
    found.unauthenticated = refusal.unauthenticated;
    return found;
  }

  void write(std::string& out, const RequestContext& context, const http::Answer& answer) const {
    std::vector<http::Header> headers = {{traits.id_header, context.id}};
    headers.insert(headers.end(), traits.headers.begin(), traits.headers.end());
    http::append_answer(out, answer, std::move(headers), context.request.keep_alive);
  }

  // Counts, encodes and sends.
  void finish(const std::shared_ptr<const RequestContext>& context, const Send& send,
              Outcome<http::Answer> given) const {
    if (!given) {
      const Refusal refusal = resolved(given.error());
      telemetry.refused(context->mark(), refusal);
      given = traits.encode(*context, refusal);
    }
    const auto answer = std::make_shared<const http::Answer>(*std::move(given));
    const http::SyncPoint point = recorded ? recorded() : 0;
    send(
        [state = shared_from_this(), context, answer, point](std::string& out) {
          state->write(out, *context, *answer);
          return point;
        },
        telemetry.latency(context->action));
  }
};

Pipeline::Pipeline(const Api& api, ApiTraits traits, Parts parts)
    : api_(api),
      offload_(std::move(parts.offload)),
      state_(std::make_shared<const State>(std::move(traits), std::move(parts))) {}

bool Pipeline::audits() const {
  return state_->telemetry.audits();
}

void Pipeline::handle(http::Exchange& exchange) const {
  const std::size_t unknown = state_->telemetry.unknown();
  const auto here = [&exchange](const Write& write, metrics::Histogram& latency) {
    exchange.measure(latency);
    exchange.reply(write(exchange.out()));
  };
  const auto context = std::make_shared<RequestContext>(
      RequestContext{.request = exchange.request(), .action = unknown});
  const Pace pace = offload_ ? api_.pace(exchange.request()) : Pace::loop;
  if (pace == Pace::loop) return serve(context, here);
  const auto on_pool = [this, unknown](const http::OffloadPool::TaskPtr& task) {
    serve(std::make_shared<RequestContext>(
              RequestContext{.request = task->request(),
                             .action = unknown,
                             .is_abandoned = [task] { return task->is_abandoned(); }}),
          [task](Write write, metrics::Histogram& latency) {
            task->answer(std::move(write), &latency);
          });
  };
  using PoolPace = http::OffloadPool::Pace;
  if (offload_(exchange, pace == Pace::slow ? PoolPace::slow : PoolPace::quick, on_pool)) return;
  state_->finish(context, here, std::unexpected(state_->traits.busy));
}

void Pipeline::serve(const std::shared_ptr<RequestContext>& context, Send send) const {
  const Respond respond =
      [state = state_, context, send = std::move(send)](Outcome<http::Answer> given) {
        state->finish(context, send, std::move(given));
      };
  Outcome<http::Answer> given = answer(*context, respond);
  if (!given || !context->later) respond(std::move(given));
}

Outcome<http::Answer> Pipeline::answer(RequestContext& context, const Respond& respond) const {
  if (state_->traits.routes_first) RETURN_IF_ERROR(api_.route(context));
  RETURN_IF_ERROR(authenticate(context));
  if (!state_->traits.routes_first) RETURN_IF_ERROR(api_.route(context));
  Outcome<http::Answer> given = api_.run(context, respond);
  audit(context, given);
  return given;
}

Outcome<void> Pipeline::authenticate(RequestContext& context) const {
  const Gate::Api& scope = context.scope != nullptr ? *context.scope : state_->traits.scope;
  auto caller = state_->gate.admit(context.request, scope);
  if (!caller && context.open && caller.error().code == ErrorCode::missing_authentication_token) {
    caller = Caller{.peer = context.request.peer, .anonymous = true};
  }
  if (caller) {
    context.caller = *std::move(caller);
    return {};
  }
  if (context.open) state_->gate.sign_in_failed(context.request.peer);
  Refusal refusal(caller.error());
  refusal.unauthenticated = is_unauthenticated(caller.error().code);
  return std::unexpected(std::move(refusal));
}

void Pipeline::audit(const RequestContext& context, const Outcome<http::Answer>& given) const {
  if (!context.audit || !audits()) return;
  std::optional<Refusal> refused;
  if (!given) refused = state_->resolved(given.error());
  state_->telemetry.audit(context.mark(),
                          context.caller,
                          {.resource = context.audit->resource,
                           .refused = refused ? &*refused : nullptr,
                           .request_json = context.audit->request_json},
                          state_->gate.wall());
}

}  // namespace redrive::front
