// Sign-in of the web console. Sessions are those of front::Gate, which accepts them on every API.

#include <fmt/format.h>

#include "base/calendar.h"
#include "manage/documents/session.h"
#include "manage/operations.h"

namespace redrive::manage {
namespace {

using auth::Right;
using documents::SessionView;

constexpr std::pair<Right, std::string_view> kRightNames[] = {
    {Right::find, "find"},
    {Right::look, "look"},
    {Right::send, "send"},
    {Right::consume, "consume"},
    {Right::operate, "operate"},
    {Right::administer, "administer"},
};

void describe_key(const auth::AccessKey& key, SessionView& view) {
  view.name = key.name;
  view.role = auth::role_name(key.role);
  for (const auto& [right, name] : kRightNames) {
    if (auth::has_right(key.role, right)) view.rights.push_back(name);
  }
  view.queues.assign(key.queues.begin(), key.queues.end());
}

// On a server without keys every caller may do everything.
void describe_open(SessionView& view) {
  view.role = auth::role_name(auth::Role::admin);
  for (const auto& [right, name] : kRightNames) view.rights.push_back(name);
}

std::string_view ends_at(Call& call, Duration left) {
  return call.keep(format_utc(call.parts.gate.wall() + left));
}

SessionView describe(Call& call, const front::Caller& caller, std::optional<Duration> left) {
  SessionView view{.signed_in = !caller.anonymous,
                   .keys = !call.parts.gate.open(),
                   .version = call.parts.version,
                   .virtual_clock = call.parts.time != nullptr,
                   .memory = call.parts.disposable,
                   .secure = call.request.secure};
  if (caller.anonymous) return view;
  view.account = caller.account;
  view.region = caller.region;
  if (left) view.expires_at = ends_at(call, *left);
  caller.key != nullptr ? describe_key(*caller.key, view) : describe_open(view);
  return view;
}

// Not readable by scripts, and not sent with requests that other sites cause.
std::string cookie(const Call& call, std::string_view token, Duration time) {
  return fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age={}{}",
                     front::kSessionCookie,
                     token,
                     std::chrono::duration_cast<std::chrono::seconds>(time).count(),
                     call.request.secure ? "; Secure" : "");
}

Document with_cookie(const SessionView& view, std::string cookie) {
  Document document;
  wire::encode_json(document.body, view);
  document.headers.emplace_back("Set-Cookie", std::move(cookie));
  return document;
}

// A browser that signs in with a link learns its rights from the session that the link opened.
Result<Document> sign_in_by_link(Call& call, std::string_view link) {
  const front::Gate& gate = call.parts.gate;
  auto opened = gate.exchange_link(link);
  if (!opened) {
    gate.sign_in_failed(call.request.peer);
    return std::unexpected(opened.error());
  }
  const front::Caller caller = TRY(gate.caller_of_session(call.request, *opened));
  return with_cookie(describe(call, caller, front::Sessions::kSessionTime),
                     cookie(call, *opened, front::Sessions::kSessionTime));
}

}  // namespace

Result<SessionView> show_session(Call& call) {
  return describe(call, call.caller, call.parts.gate.session_left(call.request));
}

Result<Document> sign_in(Call& call) {
  documents::SignInRequest input;
  if (!call.request.body.empty()) {
    RETURN_IF_ERROR(wire::decode_json(call.decoder(), call.request.padded_body(), input));
  }
  if (input.token) return sign_in_by_link(call, *input.token);
  const std::string token = TRY(call.parts.gate.open_session(call.caller));
  return with_cookie(describe(call, call.caller, front::Sessions::kSessionTime),
                     cookie(call, token, front::Sessions::kSessionTime));
}

Result<Document> sign_out(Call& call) {
  call.parts.gate.close_session(call.request);
  front::Caller gone = call.caller;
  gone.anonymous = !call.parts.gate.open();
  return with_cookie(describe(call, gone, {}), cookie(call, "", Duration(0)));
}

Result<documents::SignInLink> make_sign_in_link(Call& call) {
  return documents::SignInLink{.token = call.keep(TRY(call.parts.gate.make_link(call.caller))),
                               .expires_at = ends_at(call, front::Sessions::kLinkTime)};
}

}  // namespace redrive::manage
