#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "alarms/notice.h"
#include "base/result.h"
#include "http/outgoing_policy.h"

namespace redrive::alarms {

// Where a notice goes: the ARN of a queue or a function, the URL of a webhook (http, https), of a
// mail server (smtp, smtps), or a command (command:...).
struct Target {
  enum class Kind : std::uint8_t { queue, function, webhook, mail, command, unknown };

  Kind kind = Kind::unknown;
  std::string text;
  // Named in the server's own file, not by somebody who came over the network. Others may neither
  // run commands nor send mail, and their webhooks may not point into private networks.
  bool trusted = false;

  static Target parse(std::string text, bool trusted);
};

// For logs and lists: users and passwords that may stand in a URL are masked, and so is what
// follows its host, where webhooks keep their secrets.
std::string shown_target(const std::string& text);

// The host of a URL, without brackets; empty when it has none.
std::string host_of_url(const std::string& url);
// The address that a host is without asking anybody: itself, or that of localhost; else empty.
std::string literal_address(const std::string& host);

struct OutgoingRules {
  // Of webhooks; mail servers, which only redrive.toml names, may have any address. None: the URL
  // is the operator's own.
  http::OutgoingPolicyPtr outgoing = nullptr;
  std::chrono::milliseconds timeout{10'000};
  std::string ca_file = {};  // Certificates to trust, PEM; empty: those of the system.
};
// Each of these returns what the target answered, for the record: "HTTP 204".
//
// Posts a notice; an answer of 2xx is success. Redirects are not followed. Blocks.
Result<std::string> post_webhook(const std::string& url, const Notice& notice,
                                 const OutgoingRules& rules);

// smtp://user:password@host:587?from=a@example.com&to=b@example.com,c@example.com&tls=required
// Blocks.
Result<std::string> send_mail(const std::string& url, const Notice& notice,
                              const OutgoingRules& rules);

// Runs a command by the shell with the notice's JSON as its input, and REDRIVE_ALARM_STATE and
// REDRIVE_ALARM_TITLE in its environment; killed when it takes too long. Blocks.
Result<std::string> run_command(const std::string& command, const Notice& notice,
                                std::chrono::milliseconds timeout);

}  // namespace redrive::alarms
