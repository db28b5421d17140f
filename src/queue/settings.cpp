#include "queue/settings.h"

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

}  // namespace redrive::queue
