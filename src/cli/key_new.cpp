#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "auth/access_key.h"
#include "cli/command.h"
#include "cli/json_text.h"

// redrive key new: a key for the server's configuration. Talks to no server.

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

// The file holds secrets: when it is new, only its owner may read it.
Answer<void> append(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const bool written =
      file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (file >= 0) ::close(file);
  if (written) return {};
  return usage_failure(fmt::format("cannot write to {}: {}", path, std::strerror(error)));
}

Answer<void> run_key_new(const KeyNewOptions& options, World& world) {
  const auto role = auth::parse_role(options.role);
  if (!role) return usage_failure("a role is one of admin, operator, producer, consumer, reader");
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
  CHECK(append(options.append_to, "\n" + text));
  world.terminal.out << fmt::format(
      "export AWS_ACCESS_KEY_ID={}\nexport AWS_SECRET_ACCESS_KEY={}\n", key.id, key.secret);
  return {};
}

}  // namespace

void add_key_new(Verb parent, Commands& commands) {
  auto options = std::make_shared<KeyNewOptions>();
  Verb verb = parent.verb("new", "Make an access key and print it as a part of redrive.toml");
  verb.option("--role", options->role, "admin, operator, producer, consumer or reader").required();
  verb.option("--queue", options->queues, "Queue names it is for, such as orders-* (default: all)")
      .value_name("PATTERN")
      .one_at_a_time();
  verb.option("--account", options->account, "Account it belongs to (default: the server's)");
  verb.option("--name", options->name, "Who holds it; appears as SenderId and in the audit log");
  verb.option("--append",
              options->append_to,
              "Add it to this file, and print the environment variables for its holder")
      .value_name("FILE");
  commands.attach_offline(verb, [options](World& world) { return run_key_new(*options, world); });
}

}  // namespace redrive::cli
