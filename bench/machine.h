#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "bench/nanos.h"

namespace redrive::bench {

// CPU time that a process and its living descendants have used, user and system, to the nanosecond:
// the kernel's process clocks, not the ticks of /proc. Nothing when there is no such process.
std::optional<Nanos> cpu_time_of(pid_t process);
Nanos own_cpu_time();

// Keeps this process on one core from now on.
Result<void> pin_to_core(int core);

// As many open files as this process may have: ten thousand connections need them.
void raise_file_limit();

// The processor's name and how many there are, such as "AMD EPYC x2".
std::string machine_name();

}  // namespace redrive::bench
