#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/commands/commands.h"
#include "cli/term/json_text.h"
#include "net/auth/access_key.h"

// redrive key new: creates a key for the server's configuration. Needs no server.

namespace redrive::cli {
namespace {

struct KeyNewOptions {
  std::string role;
  std::string account;
  std::string name;
  std::vector<std::string> queues;
  std::string append_to;
};

// A TOML basic string.
std::string toml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string toml_of(const auth::AccessKey& key) {
  std::string text = fmt::format("[[key]]\nid = {}\nsecret = {}\nrole = {}\n",
                                 toml_quoted(key.id),
                                 toml_quoted(key.secret),
                                 toml_quoted(auth::role_name(key.role)));
  if (!key.account.empty()) text += fmt::format("account = {}\n", toml_quoted(key.account));
  if (!key.name.empty()) text += fmt::format("name = {}\n", toml_quoted(key.name));
  if (!key.queues.empty()) {
    text += "queues = [";
    for (std::size_t i = 0; i < key.queues.size(); ++i) {
      text += (i > 0 ? ", " : "") + toml_quoted(key.queues[i]);
    }
    text += "]\n";
  }
  return text;
}

enum class Access { unchanged, narrowed };

// Removes other users' access before a secret is written to the file. A file readable only by its
// group (0640) is left alone: that was set on purpose. Pipes and devices are skipped.
Answer<Access> keep_private(int file, const std::string& path) {
  struct stat status {};
  if (::fstat(file, &status) != 0) {
    return usage_failure(fmt::format("cannot examine {}: {}", path, std::strerror(errno)));
  }
  if (!S_ISREG(status.st_mode) || (status.st_mode & S_IRWXO) == 0) {
    return Access::unchanged;
  }
  if (::fchmod(file, S_IRUSR | S_IWUSR) == 0) return Access::narrowed;
  return usage_failure(
      fmt::format("{} is accessible to other users and its mode cannot be changed to 0600: {}; no "
                  "key was written",
                  path,
                  std::strerror(errno)));
}

Answer<Access> append(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) {
    return usage_failure(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
  auto access = keep_private(file, path);
  const bool written =
      access && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  ::close(file);
  if (!access || written) return access;
  return usage_failure(fmt::format("cannot write to {}: {}", path, std::strerror(error)));
}

Answer<void> run_key_new(const KeyNewOptions& options, World& world) {
  const auto role = auth::parse_role(options.role);
  if (!role) return usage_failure("the role must be admin, operator, producer, consumer or reader");
  const auth::AccessKey key{.id = auth::make_key_id(),
                            .secret = auth::make_key_secret(),
                            .account = options.account,
                            .name = options.name,
                            .role = *role,
                            .queues = options.queues};
  const std::string text = toml_of(key);
  if (options.append_to.empty()) {
    world.terminal.out << text;
    return {};
  }
  if (TRY(append(options.append_to, "\n" + text)) == Access::narrowed) {
    world.terminal.err << fmt::format(
        "redrive: {} was accessible to all users; its mode is now 0600 (if the server runs as "
        "another user, give it access through a group: chgrp GROUP, chmod 640)\n",
        harmless(options.append_to));
  }
  world.terminal.out << fmt::format(
      "export AWS_ACCESS_KEY_ID={}\nexport AWS_SECRET_ACCESS_KEY={}\n", key.id, key.secret);
  return {};
}

}  // namespace

void add_key_new(Verb parent, Commands& commands) {
  auto options = std::make_shared<KeyNewOptions>();
  Verb verb = parent.verb("new", "Create an access key and print it as TOML");
  verb.option("--role", options->role, "admin, operator, producer, consumer or reader").required();
  verb.option("--queue",
              options->queues,
              "Queue names that it may use, such as orders-* (default: all)")
      .value_name("PATTERN")
      .one_at_a_time();
  verb.option("--account", options->account, "Account of the key (default: the server's)");
  verb.option("--name", options->name, "Name of the holder, used as SenderId and in the audit log");
  verb.option("--append",
              options->append_to,
              "Append the key to this file, and print environment variables for its holder")
      .value_name("FILE");
  commands.attach_offline(verb, [options](World& world) { return run_key_new(*options, world); });
}

}  // namespace redrive::cli
