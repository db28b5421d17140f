#include "aws/lambda/call.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cassert>

#include "base/result.h"
#include "base/text.h"

namespace redrive::lambda {

std::string_view Call::parameter(std::string_view name) const {
  const auto found =
      std::ranges::find(context.parameters, name, &PathParameters::value_type::first);
  assert(found != context.parameters.end());
  return found->second;
}

std::string Call::query(std::string_view name) const {
  return std::string(wire::find_query_parameter(decoder(), request.query, {}, name).value_or(""));
}

Outcome<std::size_t> Call::items_max(std::size_t max) const {
  const std::string text = query("MaxItems");
  if (text.empty()) return max;
  const auto number = parse_int<std::size_t>(text);
  if (!number || *number == 0 || *number > 10'000) {
    return breaks_constraint(text, "maxItems", "have value between 1 and 10000");
  }
  return std::min(*number, max);
}

Outcome<CalledFunction> Call::function() const {
  CalledFunction called = TRY(function_called(parameter("function")));
  const std::string qualifier = query("Qualifier");
  if (qualifier.empty()) return called;
  if (!called.qualifier.empty() && called.qualifier != qualifier) {
    return invalid(
        "The derived qualifier from the function name does not match the specified qualifier.");
  }
  called.qualifier = qualifier;
  return called;
}

Outcome<CalledFunction> Call::function_called(std::string_view text) const {
  CalledFunction called = TRY(parse_function_name(text, home()));
  RETURN_IF_ERROR(may_touch(called.id));
  return called;
}

Outcome<void> Call::may_touch(const functions::FunctionId& function) const {
  return told<void>(
      front::decide(caller,
                    operation(),
                    front::function_resource(function.account, function.region, function.name),
                    {}));
}

Outcome<void> Call::authorize(const front::Operation& what,
                              const queue::QueueIdentity& queue) const {
  return told<void>(front::authorize(parts.engine, caller, what, front::resource_of(queue)));
}

Outcome<void> Call::authorize_objects(const front::Operation& what,
                                      const std::string& bucket) const {
  const auto owner = [&](const std::string& name) -> std::optional<std::string> {
    if (parts.buckets == nullptr) return std::nullopt;
    const auto info = parts.buckets->bucket(name);
    return info ? std::optional(info->owner) : std::nullopt;
  };
  return told<void>(front::authorize_objects(caller, what, bucket, owner));
}

PaddedView Call::padded_body() const {
  static const PaddedText kEmptyObject("{}");
  return request.body.empty() ? kEmptyObject : request.padded_body();
}

bool Call::body_names(std::string_view member) const {
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  const std::string_view text = padded_body().text();
  return parser.parse(text.data(), text.size()).at_key(member).get(element) == simdjson::SUCCESS &&
         !element.is_null();
}

wire::Decoder& Call::decoder() const {
  thread_local wire::Decoder decoder;
  return decoder;
}

}  // namespace redrive::lambda
