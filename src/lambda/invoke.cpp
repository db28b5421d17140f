#include <fmt/format.h>
#include <simdjson.h>

#include "base/calendar.h"
#include "base/result.h"
#include "base/text.h"
#include "documents/functions.h"
#include "lambda/catalogue.h"
#include "lambda/operations.h"

// Running a function for somebody who waits for it, or for nobody; and what it wrote meanwhile.

namespace redrive::lambda {
namespace {

constexpr std::size_t kPayloadMax = 6'291'456;
constexpr std::size_t kEventPayloadMax = 1u << 20;
constexpr std::size_t kLogTailMax = 4096;

enum class How { wait, event, dry_run };

Outcome<How> how_of(const Call& call) {
  const std::string_view type = call.request.header("x-amz-invocation-type");
  if (type.empty() || type == "RequestResponse") return How::wait;
  if (type == "Event") return How::event;
  if (type == "DryRun") return How::dry_run;
  return breaks_constraint(
      type, "invocationType", "satisfy enum value set: [Event, RequestResponse, DryRun]");
}

Outcome<void> check_payload(std::string_view payload, How how) {
  const std::size_t max = how == How::event ? kEventPayloadMax : kPayloadMax;
  if (payload.size() > max) {
    return refuse(413,
                  "RequestTooLargeException",
                  fmt::format("Request must be smaller than {} bytes for the InvokeFunction "
                              "operation",
                              max));
  }
  simdjson::dom::parser parser;
  const auto error = parser.parse(payload.data(), payload.size()).error();
  if (error == simdjson::SUCCESS) return {};
  return refuse(
      400,
      "InvalidRequestContentException",
      fmt::format("Could not parse request body into json: {}", simdjson::error_message(error)));
}

Outcome<std::string> client_context_of(const Call& call) {
  const std::string_view encoded = call.request.header("x-amz-client-context");
  if (encoded.empty()) return std::string();
  auto decoded = base64_decode(encoded);
  if (decoded) return *std::move(decoded);
  return refuse(400, "InvalidRequestContentException", "Client context must be in base64.");
}

Outcome<Answer> answer_of_run(const runtime::Outcome& run, const std::string& version,
                              bool with_log) {
  using Kind = runtime::Outcome::Kind;
  if (run.kind == Kind::throttled) {
    return std::unexpected(Refusal{429,
                                   "TooManyRequestsException",
                                   "Rate Exceeded.",
                                   "ReservedFunctionConcurrentInvocationLimitExceeded"});
  }
  if (run.kind == Kind::service_error) {
    return refuse(500, "ServiceException", run.error_message);
  }
  Answer answer{.content_type = std::string(kJsonType),
                .headers = {{"X-Amz-Executed-Version", version}},
                .body = run.payload};
  if (run.kind == Kind::function_error) {
    answer.headers.emplace_back("X-Amz-Function-Error", "Unhandled");
  }
  if (with_log) {
    const std::size_t cut = run.log.size() - std::min(run.log.size(), kLogTailMax);
    answer.headers.emplace_back("X-Amz-Log-Result",
                                base64_encode(std::string_view(run.log).substr(cut)));
  }
  return answer;
}

std::unexpected<Refusal> no_code_later() {
  return invalid(
      "Code that is named by its digest is for trials: invoke it with RequestResponse. Events for "
      "later (InvocationType Event) go to the function, a version or an alias.");
}

}  // namespace

Outcome<Answer> invoke(Call& call) {
  const CalledFunction called = TRY(call.function());
  const auto deployed = call.parts.functions.find(called.arn());
  if (!deployed) return std::unexpected(refusal_of(deployed.error()));
  const How how = TRY(how_of(call));
  const std::string_view payload = call.padded_body();
  CHECK(check_payload(payload, how));
  if (how == How::dry_run) return empty_answer(204);
  runtime::Invocation invocation{.request_id = call.request_id,
                                 .payload = std::string(payload),
                                 .client_context = TRY(client_context_of(call)),
                                 .trace = std::string(call.request.header("x-amzn-trace-id")),
                                 .invoked_arn = called.arn()};
  if (how == How::event) {
    if (functions::is_code_qualifier(called.qualifier)) return no_code_later();
    functions::FunctionId target = called.id;
    if (!called.is_latest()) target.name += ":" + called.qualifier;
    CHECK(told<void>(call.parts.invoke_async(target, invocation)));
    return empty_answer(202);
  }
  call.later = true;
  const bool with_log = call.request.header("x-amz-log-type") == "Tail";
  call.parts.invoker.invoke(
      (*deployed)->spec,
      std::move(invocation),
      [respond = call.respond, spec = (*deployed)->spec, with_log](runtime::Outcome run) {
        respond(answer_of_run(run, spec->version, with_log));
      });
  return Answer{};
}

Outcome<Answer> show_logs(Call& call) {
  const functions::Function function = TRY(called_function(call));
  const std::string text = call.query("after");
  const auto after = parse_int<std::uint64_t>(text.empty() ? "0" : text);
  if (!after) return invalid("`after` is the number of a line.");
  const auto lines =
      call.parts.invoker.logs(arn_of_version(function), *after, documents::kLogPageLines);
  documents::LogPage out;
  for (const auto& line : lines) {
    out.lines.push_back({.number = static_cast<std::int64_t>(line.sequence),
                         .at = call.keep(format_utc(line.wall)),
                         .request_id = line.request_id,
                         .text = line.text});
  }
  api::Masking masking(call.caller, call.request.query, call.parts.mask_rules);
  masking.apply(out);
  Answer answer = json_answer(200, out);
  api::append_masked_member(answer.body, masking.masked());
  return answer;
}

}  // namespace redrive::lambda
