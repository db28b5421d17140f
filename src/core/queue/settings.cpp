#include "core/queue/settings.h"

#include <algorithm>

namespace redrive::queue {

bool RedriveAllowPolicy::allows(const std::string& source_arn) const {
  switch (permission) {
    case Permission::allow_all:
      return true;
    case Permission::deny_all:
      return false;
    case Permission::by_queue:
      return std::ranges::find(source_arns, source_arn) != source_arns.end();
  }
  return false;
}

seconds DeadLetterPolicy::delay_after(std::uint32_t redrives) const {
  std::int64_t delay = redrive_after.count();
  for (std::uint32_t i = 0; i < redrives && delay < redrive_after_max.count(); ++i) {
    delay *= backoff_rate;
    if (backoff_rate == 1) break;
  }
  return std::min(seconds(delay), redrive_after_max);
}

}  // namespace redrive::queue
