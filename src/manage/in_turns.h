#pragma once

#include "core/engine/in_turns.h"

namespace redrive::manage {

using engine::visit_in_turns;

}  // namespace redrive::manage
