#include <fmt/format.h>
#include <simdjson.h>

#include "aws/lambda/catalogue.h"
#include "aws/lambda/operations.h"
#include "base/calendar.h"
#include "base/result.h"
#include "base/text.h"
#include "manage/documents/functions.h"

// Synchronous and asynchronous invocations, and their logs.

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
  return refuse(400, "InvalidRequestContentException", "The client context must be base64.");
}

Outcome<Answer> answer_of_run(const runtime::Outcome& run, const std::string& version,
                              bool with_log) {
  using Kind = runtime::Outcome::Kind;
  if (run.kind == Kind::throttled) {
    Refusal refusal(429, "TooManyRequestsException", "Rate Exceeded.");
    refusal.reason = "ReservedFunctionConcurrentInvocationLimitExceeded";
    return std::unexpected(std::move(refusal));
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
      "Code that is identified by its digest can be invoked only with RequestResponse. For "
      "InvocationType Event, use the function, a version or an alias.");
}

}  // namespace

Outcome<Answer> invoke(Call& call) {
  const CalledFunction called = TRY(call.function());
  const auto deployed = call.parts.functions.find(called.arn());
  if (!deployed) return std::unexpected(refusal_of(deployed.error()));
  const How how = TRY(how_of(call));
  const std::string_view payload = call.padded_body().text();
  RETURN_IF_ERROR(check_payload(payload, how));
  if (how == How::dry_run) return empty_answer(204);
  runtime::Invocation invocation{.request_id = call.context.id,
                                 .payload = std::string(payload),
                                 .client_context = TRY(client_context_of(call)),
                                 .trace = std::string(call.request.header("x-amzn-trace-id")),
                                 .invoked_arn = called.arn()};
  if (how == How::event) {
    if (functions::is_code_qualifier(called.qualifier)) return no_code_later();
    functions::FunctionId target = called.id;
    if (!called.is_latest()) target.name += ":" + called.qualifier;
    RETURN_IF_ERROR(told<void>(call.parts.invoke_async(target, invocation)));
    return empty_answer(202);
  }
  call.context.later = true;
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
  if (!after) return invalid("`after` must be the number of a line.");
  const auto lines =
      call.parts.invoker.logs(arn_of_version(function), *after, documents::kLogPageLines);
  documents::LogPage out;
  for (const auto& line : lines) {
    out.lines.push_back({.number = static_cast<std::int64_t>(line.sequence),
                         .at = call.keep(format_utc(line.wall)),
                         .request_id = line.request_id,
                         .text = line.text});
  }
  front::Masking masking(call.caller, call.request.query, call.parts.mask_rules);
  masking.apply(out);
  Answer answer = json_answer(200, out);
  front::append_masked_member(answer.body, masking.masked());
  return answer;
}

}  // namespace redrive::lambda
