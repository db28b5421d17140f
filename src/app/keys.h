#pragma once

#include "app/config.h"
#include "net/auth/access_key.h"

namespace redrive::app {

// The keys of the configuration. A key that names no account belongs to the server's own; one
// without a rate has the common limit.
Result<auth::KeyRing> key_ring(const Config& config);

// Logs a warning for each file with secrets that other users of the machine can read or change. Not
// an error, because the server must start again after an unattended restart.
void warn_about_exposed_secrets(const Config& config);

// Reads the keys again from the file they came from. Going from keys to none or back is refused:
// removing the last key would open the server to all clients.
Result<auth::KeyRing> read_fresh_keys(const Config& config);

}  // namespace redrive::app
