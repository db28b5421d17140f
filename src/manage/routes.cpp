#include "manage/routes.h"

#include "manage/operations.h"

namespace redrive::manage {
namespace {

constexpr Route kRoutes[] = {
    {"GET", "/_redrive/v1/clock", &as_json<show_clock>},
    {"POST", "/_redrive/v1/clock/advance", &as_json<advance_clock>},
    {"POST", "/_redrive/v1/reset", &as_json<reset>},
    {"GET", "/_redrive/v1/openapi.yaml", &show_openapi},
};

}  // namespace

std::span<const Route> routes() {
  return kRoutes;
}

}  // namespace redrive::manage
