#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "bench/nanos.h"

namespace redrive::bench {

// CPU time used by a process and its living descendants, user and system, in nanoseconds from the
// kernel's process clocks rather than the ticks of /proc. nullopt if there is no such process.
std::optional<Nanos> cpu_time_of(pid_t process);
Nanos own_cpu_time();

// Pins this process to one core.
Result<void> pin_to_core(int core);

// Raises the limit of open files to its maximum: ten thousand connections need them.
void raise_file_limit();

// The CPU's name and number, such as "AMD EPYC x2".
std::string machine_name();

}  // namespace redrive::bench
