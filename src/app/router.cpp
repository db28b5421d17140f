#include "app/router.h"

#include <algorithm>
#include <cassert>

namespace redrive::app {
namespace {

// Refuses a request that a foreign web page made. False: it is not one.
bool refuse_page(const http::BrowserGuard& guard, http::Exchange& exchange) {
  const http::Request& request = exchange.request();
  const auto refusal = guard.refusal({.host = request.host,
                                      .origin = request.header("origin"),
                                      .fetch_site = request.header("sec-fetch-site"),
                                      .referer = request.header("referer")});
  if (refusal) reply_text(exchange, 403, *refusal);
  return refusal.has_value();
}

}  // namespace

void reply_text(http::Exchange& exchange, int status, std::string_view text) {
  const std::size_t mark = http::begin_response(exchange.out(),
                                                {.status = status,
                                                 .content_type = "text/plain; charset=utf-8",
                                                 .keep_alive = exchange.request().keep_alive});
  exchange.out().append(text).append("\n");
  http::end_response(exchange.out(), mark);
  exchange.reply(0);
}

EndpointTable& EndpointTable::add(Api api, Endpoint endpoint) {
  Endpoint& place = endpoints_[static_cast<std::size_t>(api)];
  assert(!place.handle && endpoint.handle);
  assert((endpoint.pace == nullptr) == !endpoint.refuse_busy);
  place = std::move(endpoint);
  return *this;
}

bool EndpointTable::is_complete() const {
  return std::ranges::all_of(endpoints_, [](const Endpoint& one) { return bool(one.handle); });
}

Router::Router(EndpointTable table, Run run, std::optional<http::BrowserGuard> guard)
    : table_(std::move(table)), run_(std::move(run)), guard_(std::move(guard)) {
  assert(table_.is_complete());
}

void Router::handle(http::Exchange& exchange) const {
  const Api api = api_of(exchange.request());
  // The files of the console contain no data, and links from other sites lead to them.
  if (guard_ && api != Api::console && refuse_page(*guard_, exchange)) return;
  const Endpoint& endpoint = table_[api];
  if (endpoint.pace == nullptr) return endpoint.handle(exchange);
  if (!run_(exchange, endpoint.pace(exchange.request()), endpoint.handle)) {
    endpoint.refuse_busy(exchange);
  }
}

}  // namespace redrive::app
