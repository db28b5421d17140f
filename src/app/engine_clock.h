#pragma once

#include <optional>

#include "app/config.h"
#include "base/clock.h"
#include "core/engine/engine.h"

namespace redrive::app {

// The clock that the engine follows: the system's, or with --virtual-clock a virtual one. The
// latter begins at --virtual-clock-start or now, but never before the last time that the journal
// has recorded.
class EngineClock {
 public:
  EngineClock(const Config& config, Timestamp journal_wall);

  const Clock& get() const { return virtual_ ? static_cast<const Clock&>(*virtual_) : system_; }
  VirtualClock* if_virtual() { return virtual_ ? &*virtual_ : nullptr; }

 private:
  SystemClock system_;
  std::optional<VirtualClock> virtual_;
};

// What the engine does about a jump of the wall clock. A virtual clock is right by definition.
engine::JumpOptions jump_options(const Config& config);

}  // namespace redrive::app
