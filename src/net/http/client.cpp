#include "net/http/client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/text.h"
#include "net/http/outgoing_curl.h"

namespace redrive::http {

namespace {

// Larger than any response this program requests; bounds what a peer can make us buffer.
constexpr std::size_t kResponseBytesMax = 256u << 20;

using HeaderList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;
using Url = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

// libcurl requires one global initialisation per process, before any other call.
bool initialize_library() {
  static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return ready;
}

std::size_t on_body(char* bytes, std::size_t, std::size_t count, void* context) {
  auto& body = static_cast<ClientResponse*>(context)->body;
  if (count > kResponseBytesMax - body.size()) return 0;
  body.append(bytes, count);
  return count;
}

std::string_view trim_line(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::size_t on_header(char* bytes, std::size_t, std::size_t count, void* context) {
  auto& headers = static_cast<ClientResponse*>(context)->headers;
  const std::string_view line(bytes, count);
  // A new status line: the headers so far belonged to an interim response such as 100 Continue.
  if (line.starts_with("HTTP/")) headers.clear();
  const std::size_t colon = line.find(':');
  if (colon != std::string_view::npos) {
    headers.emplace_back(trim_line(line.substr(0, colon)), trim_line(line.substr(colon + 1)));
  }
  return count;
}

bool is_loopback_host(std::string_view host) {
  return host == "localhost" || host == "[::1]" || host == "::1" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == host.npos);
}

// The host of a URL; empty if `url` is not a valid URL.
std::string host_of(const std::string& url) {
  const Url parsed(curl_url(), curl_url_cleanup);
  char* host = nullptr;
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK ||
      curl_url_get(parsed.get(), CURLUPART_HOST, &host, 0) != CURLUE_OK) {
    return {};
  }
  std::string copy(host);
  curl_free(host);
  return copy;
}

bool append(HeaderList& list, const std::string& line) {
  curl_slist* const longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) return false;
  (void)list.release();
  list.reset(longer);
  return true;
}

Result<HeaderList> header_list(const ClientRequest& request) {
  HeaderList list(nullptr, curl_slist_free_all);
  // An empty value suppresses a header that libcurl would add on its own.
  bool ok = append(list, "Expect:");
  const auto is_content_type = [](const auto& header) {
    return iequals(header.first, "content-type");
  };
  if (std::ranges::none_of(request.headers, is_content_type)) ok &= append(list, "Content-Type:");
  for (const auto& [name, value] : request.headers) {
    const std::string line = value.empty() ? name + ";" : fmt::format("{}: {}", name, value);
    if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
      return fail(ErrorCode::network, "A header of the request contains a line break.");
    }
    ok &= append(list, line);
  }
  if (!ok) return fail(ErrorCode::network, "Out of memory for the request's headers.");
  return list;
}

void set_method_and_body(CURL* curl, const ClientRequest& request) {
  const bool has_body =
      !request.body.empty() || request.method == "POST" || request.method == "PUT";
  if (has_body) {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(
        curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  }
  if (request.method == "HEAD") curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

void set_options(CURL* curl, const ClientRequest& request, ClientResponse& response) {
  curl_easy_reset(curl);  // Keeps open connections.
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "redrive");
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &response);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &response);
  if (!request.ca_bundle.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, request.ca_bundle.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, request.verify_tls ? 1L : 0L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, request.verify_tls ? 2L : 0L);
  // A proxy from the environment is never used for loopback addresses, nor with a policy.
  if (request.outgoing != nullptr || is_loopback_host(host_of(request.url))) {
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
  }
  set_method_and_body(curl, request);
}

}  // namespace

std::string_view ClientResponse::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (iequals(key, name)) return value;
  }
  return {};
}

Client::Client() : curl_(initialize_library() ? curl_easy_init() : nullptr) {}

Client::~Client() {
  if (curl_ != nullptr) curl_easy_cleanup(curl_);
}

Result<ClientResponse> Client::send(const ClientRequest& request) {
  if (curl_ == nullptr) return fail(ErrorCode::network, "libcurl cannot be initialised.");
  const HeaderList headers = TRY(header_list(request));
  ClientResponse response;
  char details[CURL_ERROR_SIZE] = "";
  set_options(curl_, request, response);
  curl_easy_setopt(curl_, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl_, CURLOPT_ERRORBUFFER, details);
  std::optional<OutgoingGuard> guard;
  if (request.outgoing != nullptr) {
    guard.emplace(OutgoingGuard{.policy = *request.outgoing, .host = host_of(request.url)});
    guard->install(curl_);
  }
  const CURLcode code = curl_easy_perform(curl_);
  curl_easy_setopt(curl_, CURLOPT_ERRORBUFFER, nullptr);  // `details` goes out of scope.
  OutgoingGuard::release(curl_);
  if (code != CURLE_OK && guard && guard->refused) {
    return fail(ErrorCode::access_denied,
                fmt::format("{} {} refused: {}", request.method, request.url, kNotPermitted));
  }
  if (code != CURLE_OK) {
    const std::string_view reason = details[0] != '\0' ? details : curl_easy_strerror(code);
    return fail(ErrorCode::network,
                fmt::format("{} {} failed: {}", request.method, request.url, reason));
  }
  long status = 0;
  curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<int>(status);
  return response;
}

}  // namespace redrive::http
