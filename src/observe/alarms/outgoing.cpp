// Webhooks and mail through libcurl.

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ctime>
#include <memory>
#include <optional>

#include "base/digest.h"
#include "base/text.h"
#include "net/http/outgoing_curl.h"
#include "observe/alarms/target.h"

namespace redrive::alarms {
namespace {

constexpr std::size_t kAnswerBytesMax = 64u << 10;

struct CurlEnd {
  void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Curl = std::unique_ptr<CURL, CurlEnd>;
using CurlUrl = std::unique_ptr<CURLU, CurlEnd>;
using CurlList = std::unique_ptr<curl_slist, CurlEnd>;

std::unexpected<Error> undelivered(std::string message) {
  return fail(ErrorCode::network, std::move(message));
}

std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return {};
  std::string copy(text);
  curl_free(text);
  return copy;
}

std::string parameter_of(std::string_view query, std::string_view name) {
  for (const std::string_view pair : split(query, '&')) {
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (pair.substr(0, equals) != name) continue;
    return percent_decode(pair.substr(std::min(pair.size(), equals + 1)), false);
  }
  return {};
}

std::size_t swallow(char*, std::size_t size, std::size_t count, void* left) {
  auto& budget = *static_cast<std::size_t*>(left);
  if (size * count > budget) return 0;  // Abort overlong responses.
  budget -= size * count;
  return size * count;
}

void set_common(CURL* curl, const OutgoingRules& rules, std::size_t& budget) {
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(rules.timeout.count()));
  if (!rules.ca_file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, rules.ca_file.c_str());
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &swallow);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &budget);
}

struct Letter {
  std::string text;
  std::size_t sent = 0;
};

std::size_t read_letter(char* out, std::size_t size, std::size_t count, void* data) {
  auto& letter = *static_cast<Letter*>(data);
  const std::size_t bytes = std::min(size * count, letter.text.size() - letter.sent);
  letter.text.copy(out, bytes, letter.sent);
  letter.sent += bytes;
  return bytes;
}

// Prevents header injection through untrusted names.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text;
}

// In lines of 76 characters, as required for mail: the notice may contain one long line.
std::string encoded_body(std::string_view text) {
  constexpr std::size_t kLine = 76;
  const std::string encoded = base64_encode(text);
  std::string out;
  for (std::size_t at = 0; at < encoded.size(); at += kLine) {
    out.append(encoded, at, kLine).append("\r\n");
  }
  return out;
}

// Fri, 30 Jan 2026 23:59:59 +0000
std::string mail_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S +0000", &parts)};
}

struct Mail {
  std::string from;
  std::string to;
};

std::string letter_of(const Mail& mail, const Notice& notice) {
  std::string text = notice.text;
  if (!notice.link.empty()) text += fmt::format("\nOpen in the console: {}\n", notice.link);
  return fmt::format(
      "Date: {}\r\nFrom: {}\r\nTo: {}\r\nSubject: {}\r\nMessage-ID: <{}@redrive>\r\n"
      "X-Redrive-Notice: {}\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
      "Content-Transfer-Encoding: base64\r\n\r\n{}",
      mail_date(),
      mail.from,
      mail.to,
      one_line(notice.title),
      sha256_hex(notice.id),
      one_line(notice.id),
      encoded_body(text));
}

}  // namespace

std::string host_of_url(const std::string& url) {
  const CurlUrl parsed(curl_url());
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return {};
  std::string host = part_of(parsed.get(), CURLUPART_HOST);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return host;
}

Result<std::string> post_webhook(const std::string& url, const Notice& notice,
                                 const OutgoingRules& rules) {
  const CurlUrl parsed(curl_url());
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) {
    return undelivered(fmt::format("{} is not a URL", shown_target(url)));
  }
  const std::string host = part_of(parsed.get(), CURLUPART_HOST);
  const bool slack = host == "hooks.slack.com" ||
                     parameter_of(part_of(parsed.get(), CURLUPART_QUERY), "format") == "slack";
  const std::string body = slack ? slack_json(notice) : notice.json;
  const Curl curl(curl_easy_init());
  std::size_t budget = kAnswerBytesMax;
  set_common(curl.get(), rules, budget);
  CurlList headers(curl_slist_append(nullptr, "Content-Type: application/json"));
  const std::string id = "X-Redrive-Notice: " + one_line(notice.id);
  curl_slist_append(headers.get(), id.c_str());
  curl_slist_append(headers.get(), "Expect:");
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
  curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, body.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_USERAGENT, "redrive");
  std::optional<http::OutgoingGuard> guard;
  if (rules.outgoing != nullptr) {
    guard.emplace(http::OutgoingGuard{.policy = *rules.outgoing, .host = host});
    guard->install(curl.get());
  }
  const CURLcode code = curl_easy_perform(curl.get());
  if (code != CURLE_OK && guard && guard->refused) {
    return undelivered(fmt::format("{} refused: {}", shown_target(url), http::kNotPermitted));
  }
  if (code != CURLE_OK)
    return undelivered(fmt::format("{}: {}", shown_target(url), curl_easy_strerror(code)));
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status >= 200 && status < 300) return fmt::format("HTTP {}", status);
  return undelivered(fmt::format("{} answered {}", shown_target(url), status));
}

Result<std::string> send_mail(const std::string& url, const Notice& notice,
                              const OutgoingRules& rules) {
  const CurlUrl parsed(curl_url());
  constexpr unsigned kFlags = CURLU_NON_SUPPORT_SCHEME;
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), kFlags) != CURLUE_OK) {
    return undelivered("the mail server's URL is invalid");
  }
  const std::string query = part_of(parsed.get(), CURLUPART_QUERY);
  const Mail mail{.from = one_line(parameter_of(query, "from")),
                  .to = one_line(parameter_of(query, "to"))};
  if (mail.from.empty() || mail.to.empty()) return undelivered("mail requires ?from= and &to=");
  const bool must_encrypt = parameter_of(query, "tls") == "required";
  curl_url_set(parsed.get(), CURLUPART_QUERY, nullptr, 0);
  const Curl curl(curl_easy_init());
  std::size_t budget = kAnswerBytesMax;
  set_common(curl.get(), rules, budget);
  Letter letter{letter_of(mail, notice)};
  CurlList receivers;
  for (const std::string_view receiver : split(mail.to, ',')) {
    receivers.reset(curl_slist_append(receivers.release(), std::string(receiver).c_str()));
  }
  const std::string server = part_of(parsed.get(), CURLUPART_URL);
  curl_easy_setopt(curl.get(), CURLOPT_URL, server.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  curl_easy_setopt(curl.get(), CURLOPT_USE_SSL, must_encrypt ? CURLUSESSL_ALL : CURLUSESSL_TRY);
  curl_easy_setopt(curl.get(), CURLOPT_MAIL_FROM, mail.from.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_MAIL_RCPT, receivers.get());
  curl_easy_setopt(curl.get(), CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_READFUNCTION, &read_letter);
  curl_easy_setopt(curl.get(), CURLOPT_READDATA, &letter);
  const CURLcode code = curl_easy_perform(curl.get());
  if (code == CURLE_OK) return "accepted by the mail server";
  return undelivered(fmt::format("mail to {}: {}", mail.to, curl_easy_strerror(code)));
}

}  // namespace redrive::alarms
