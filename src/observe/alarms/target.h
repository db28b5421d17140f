#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/outgoing_policy.h"
#include "observe/alarms/notice.h"

namespace redrive::alarms {

// The target of a notice: the ARN of a queue or a function, the URL of a webhook (http, https) or a
// mail server (smtp, smtps), or a command (command:...).
struct Target {
  enum class Kind : std::uint8_t { queue, function, webhook, mail, command, unknown };

  Kind kind = Kind::unknown;
  std::string text;
  // Named in the server's own configuration, not by a client. Untrusted targets may neither run
  // commands nor send mail, and their webhooks may not point into private networks.
  bool trusted = false;

  static Target parse(std::string text, bool trusted);
};

// For logs and lists: masks user and password of a URL, and everything after its host, where
// webhooks have their secrets.
std::string shown_target(const std::string& text);

// The host of a URL, without brackets; empty if it has none.
std::string host_of_url(const std::string& url);
// The address of a host without name resolution: a literal address, or that of localhost; else
// empty.
std::string literal_address(const std::string& host);

struct OutgoingRules {
  // For webhooks; mail servers, which only redrive.toml can name, may have any address. Null: the
  // URL is trusted.
  http::OutgoingPolicyPtr outgoing = nullptr;
  std::chrono::milliseconds timeout{10'000};
  std::string ca_file = {};  // Trusted CAs, PEM; empty: the system's.
};
// Each of these returns the target's response, for the record: "HTTP 204".
//
// Posts a notice; a 2xx response is success. Redirects are not followed. Blocks.
Result<std::string> post_webhook(const std::string& url, const Notice& notice,
                                 const OutgoingRules& rules);

// smtp://user:password@host:587?from=a@example.com&to=b@example.com,c@example.com&tls=required
// Blocks.
Result<std::string> send_mail(const std::string& url, const Notice& notice,
                              const OutgoingRules& rules);

// Runs a shell command with the notice's JSON on stdin, and REDRIVE_ALARM_STATE and
// REDRIVE_ALARM_TITLE in its environment; killed after `timeout`. Blocks.
Result<std::string> run_command(const std::string& command, const Notice& notice,
                                std::chrono::milliseconds timeout);

}  // namespace redrive::alarms
