// Empties a server between two tests.

#include "manage/operations.h"

namespace redrive::manage {

Result<ResetOutput> reset(Call& call) {
  if (!call.parts.disposable) {
    return fail(
        ErrorCode::access_denied,
        "Only a server started with `redrive serve --memory` or `--virtual-clock` can be reset.");
  }
  ResetOutput out{.queues = static_cast<std::int64_t>(call.parts.engine.reset())};
  if (call.parts.catalogue_cleared) call.parts.catalogue_cleared();
  if (call.parts.clear_buckets) {
    const std::size_t buckets = TRY(call.parts.clear_buckets());
    if (buckets > 0) out.buckets = static_cast<std::int64_t>(buckets);
  }
  return out;
}

}  // namespace redrive::manage
