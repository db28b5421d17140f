#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "front/authorize.h"
#include "front/pipeline.h"
#include "net/wire/decoder.h"
#include "net/wire/encode.h"

// Services of AWS whose requests name an action: AWS JSON (X-Amz-Target) and Query (Action=...).
//
// A service is a table of actions and one function for each, from a struct to a struct:
//
//   Outcome<GetParameterOutput> get_parameter(Call& call, const GetParameterInput& input);
//
//   constexpr front::Action<Call> kActions[] = {
//       front::action<get_parameter>("GetParameter", Right::look),
//
// The shapes of the structs say what travels (net/wire/shape.h). TableApi decodes, authorises the
// role, runs, encodes, and lets the pipeline count and audit.

namespace redrive::front {

// Constants of a service.
struct TableTraits {
  std::string_view name;  // In metrics, the log and the audit log, and before the colon of
                          // permissions: ssm:GetParameter.
  Gate::Api scope;
  Refusal (*refusal_of)(const Error& error);  // The error table.
  std::string_view target_prefix = {};        // `AmazonSSM.`; empty: there is no JSON protocol.
  std::string_view json_type = "application/x-amz-json-1.1";
  std::string_view xml_namespace = {};  // Empty: there is no Query protocol.
  // How JSON members that a shape does not have are treated.
  wire::UnknownMembers unknown_members = wire::UnknownMembers::refuse;
  std::string_view title = {};  // The name in messages; empty: `name`.
  // Whether an unknown action is refused before the signature is checked.
  bool routes_first = false;
};

// Passed to every action. A service derives its Call from it and adds its parts.
struct ActionCall {
  RequestContext& context;
  std::string permission;            // ssm:GetParameter
  std::optional<auth::Right> right;  // None: any authenticated caller.
  std::deque<std::string> kept = {};

  const Caller& caller() const { return context.caller; }
  // The operation, for decisions about resources. An action without a right makes none.
  Operation operation() const {
    return {.name = permission, .right = right.value_or(auth::Right::administer)};
  }
  Result<void> authorize_role() const {
    return right ? front::authorize_role(caller(), operation()) : Result<void>();
  }
  // Keeps a text alive until the answer is encoded.
  std::string_view keep(std::string text) { return kept.emplace_back(std::move(text)); }
};

// The body of a request and of its answer, in the protocol of the request.
class ActionBody {
 public:
  ActionBody(const TableTraits& traits, const RequestContext& context, std::string_view action)
      : traits_(traits), context_(context), action_(action) {}

  Result<void> decode(const wire::Record& record, void* input);
  // A null record: the action has no result at all.
  void encode(const wire::Record* record, const void* output);
  http::Answer answer() &&;

 private:
  const TableTraits& traits_;
  const RequestContext& context_;
  const std::string_view action_;
  wire::Decoder decoder_;
  std::string out_;
};

// One row. The role's right is authorised before the action runs; what the request names is
// authorised by the action, with front::authorize or front::decide.
template <class Call>
struct Action {
  std::string_view name;
  std::optional<auth::Right> right;  // None: any authenticated caller.
  Pace pace;
  Outcome<void> (*run)(Call& call, ActionBody& body);
};

namespace detail {

template <class Function>
struct ActionFunction;
template <class C, class In, class Out>
struct ActionFunction<Outcome<Out> (*)(C&, const In&)> {
  using Call = C;
  using Input = In;
  using Output = Out;
};

// An action is audited if its service has an overload `AuditNote audit_note(const Input&)`.
template <auto operation>
Outcome<void> run_action(typename ActionFunction<decltype(operation)>::Call& call,
                         ActionBody& body) {
  using Types = ActionFunction<decltype(operation)>;
  typename Types::Input input;
  RETURN_IF_ERROR(body.decode(wire::kRecord<typename Types::Input>, &input));
  if constexpr (requires { audit_note(input); }) call.context.audit = audit_note(input);
  RETURN_IF_ERROR(call.authorize_role());
  if constexpr (std::is_void_v<typename Types::Output>) {
    RETURN_IF_ERROR(operation(call, input));
    body.encode(nullptr, nullptr);
  } else {
    const typename Types::Output output = TRY(operation(call, input));
    body.encode(&wire::kRecord<typename Types::Output>, &output);
  }
  return {};
}

}  // namespace detail

// A row for a function `Outcome<Output> (*)(Call&, const Input&)`. Output may be void.
template <auto operation>
consteval auto action(std::string_view name, std::optional<auth::Right> right,
                      Pace pace = Pace::quick) {
  using ServiceCall = typename detail::ActionFunction<decltype(operation)>::Call;
  return Action<ServiceCall>{name, right, pace, &detail::run_action<operation>};
}

// The error table that services of AWS JSON share: AccessDeniedException, ThrottlingException, ...
Refusal json_refusal_of(const Error& error);

// Refuses requests in Smithy's RPC protocol with CBOR, which newer SDKs can be configured to use.
Outcome<void> check_protocol(const http::Request& request);
// The action that a request names: the rest of its target, or the parameter Action.
std::string action_name(const TableTraits& traits, const http::Request& request);
// Refuses a request that names none of the actions.
std::unexpected<Refusal> unknown_action(const TableTraits& traits, std::string_view name);
ApiTraits api_traits(const TableTraits& traits, std::vector<std::string_view> actions);

// Implements Api with a table. `traits` and `actions` are constants of the program.
template <class Call>
class TableApi final : private Api {
 public:
  using MakeCall = std::function<Call(ActionCall)>;
  TableApi(const TableTraits& traits, std::span<const Action<Call>> actions, MakeCall make_call,
           Pipeline::Parts parts)
      : traits_(traits),
        actions_(actions),
        make_call_(std::move(make_call)),
        pipeline_(*this, api_traits(traits, names_of(actions)), std::move(parts)) {}

  void handle(http::Exchange& exchange) const { pipeline_.handle(exchange); }

 private:
  static std::vector<std::string_view> names_of(std::span<const Action<Call>> actions) {
    std::vector<std::string_view> names;
    for (const Action<Call>& action : actions) names.push_back(action.name);
    return names;
  }
  const Action<Call>* find(std::string_view name) const {
    const auto found = std::ranges::find(actions_, name, &Action<Call>::name);
    return found == actions_.end() ? nullptr : &*found;
  }

  Pace pace(const http::Request& request) const override {
    const Action<Call>* const action = find(action_name(traits_, request));
    return action == nullptr ? Pace::quick : action->pace;
  }
  Outcome<void> route(RequestContext& context) const override {
    RETURN_IF_ERROR(check_protocol(context.request));
    const std::string name = action_name(traits_, context.request);
    const Action<Call>* const action = find(name);
    if (action == nullptr) return unknown_action(traits_, name);
    context.action = static_cast<std::size_t>(action - actions_.data());
    return {};
  }
  Outcome<http::Answer> run(RequestContext& context, const Respond&) const override {
    const Action<Call>& action = actions_[context.action];
    Call call =
        make_call_({context, fmt::format("{}:{}", traits_.name, action.name), action.right});
    ActionBody body(traits_, context, action.name);
    RETURN_IF_ERROR(action.run(call, body));
    return std::move(body).answer();
  }

  const TableTraits& traits_;
  const std::span<const Action<Call>> actions_;
  const MakeCall make_call_;
  const Pipeline pipeline_;
};

}  // namespace redrive::front
