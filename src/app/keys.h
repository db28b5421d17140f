#pragma once

#include "app/config.h"
#include "net/auth/access_key.h"

namespace redrive::app {

// The keys of the configuration. A key that names no account belongs to the server's own; one
// without a rate has the common limit.
Result<auth::KeyRing> key_ring(const Config& config);

// Logs a warning for each file with secrets that other users of the machine can read or change. Not
// an error, because the server must start again after an unattended restart. Access through a group
// is left alone: it is how a server that runs as another user reads the file.
void warn_about_exposed_secrets(const Config& config);

// The files with secrets that users other than the owner can read now, as paths and `others` or
// `group`. The configuration is read again, because a reload may have changed it.
std::vector<std::pair<std::string, std::string>> exposed_key_files(const Config& config);

// Reads the keys again from the file they came from. Going from keys to none or back is refused:
// removing the last key would open the server to all clients.
Result<auth::KeyRing> read_fresh_keys(const Config& config);

}  // namespace redrive::app
