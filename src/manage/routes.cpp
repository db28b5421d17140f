#include "manage/routes.h"

#include "manage/operations.h"

namespace redrive::manage {
namespace {

using auth::Right;

constexpr Route kRoutes[] = {
    {"GET", "/_redrive/v1/clock", Right::find, &as_json<show_clock>},
    {"POST", "/_redrive/v1/clock/advance", Right::administer, &as_json<advance_clock>},
    {"POST", "/_redrive/v1/reset", Right::administer, &as_json<reset>},
    {"GET", "/_redrive/v1/openapi.yaml", Right::find, &show_openapi},
};

}  // namespace

std::span<const Route> routes() {
  return kRoutes;
}

}  // namespace redrive::manage
