#include <fmt/format.h>

#include "base/text.h"
#include "cli/client/permission.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/commands/commands.h"
#include "cli/term/table.h"
#include "manage/documents/corrections.h"
#include "manage/documents/damage.h"

// redrive queue damaged ls|retry|drop: messages whose stored bytes cannot be read.
// redrive function damaged ls|retry|drop: the same for events of asynchronous invocations.

namespace redrive::cli {
namespace {

struct DamagedOptions {
  bool of_function = false;
  std::string owner;  // The queue or the function.
  std::vector<std::string> messages;
  bool all = false;
  bool yes = false;
};

std::string damaged_path(const DamagedOptions& options, std::string_view rest) {
  const std::string_view name =
      options.of_function ? std::string_view(options.owner) : queue_name_of(options.owner);
  return fmt::format("{}/{}/damaged{}",
                     options.of_function ? "events" : "queues",
                     percent_encode(name, false),
                     rest);
}

std::string_view damaged_noun(const DamagedOptions& options, std::int64_t count) {
  if (options.of_function) return count == 1 ? "event" : "events";
  return count == 1 ? "message" : "messages";
}

Answer<documents::DamagedChoice> choice_of(const DamagedOptions& options) {
  documents::DamagedChoice choice;
  for (const std::string& message : options.messages) {
    const auto key = parse_int<std::int64_t>(message);
    if (!key) return usage_failure("pass keys of messages, see: redrive queue damaged ls");
    choice.keys.push_back(*key);
  }
  if (options.all) choice.all = true;
  if (choice.keys.empty() != options.all) return usage_failure("pass keys of messages or --all");
  return choice;
}

std::string file_of(std::int64_t segment) {
  return fmt::format("{:010}.seg", segment);
}

Answer<void> run_damaged_list(const DamagedOptions& options, Session& session) {
  constexpr auto right = Table::Align::right;
  Table table({{"KEY", right},
               {"MESSAGE ID"},
               {"FILE"},
               {"OFFSET", right},
               {"SIZE", right},
               {"RECEIVED", right},
               {"FOUND"},
               {"ERROR"}});
  std::string after;
  do {
    const auto page = TRY(session.service.manage<documents::DamagedPage>(
        "GET", damaged_path(options, fmt::format("?after={}", percent_encode(after, false)))));
    for (const documents::DamagedMessage& message : page->messages) {
      if (session.json) {
        session.terminal().out << json_line(message);
        continue;
      }
      table.add({fmt::format("{}", message.key),
                 message.message_id ? message.message_id->text() : "unknown",
                 file_of(message.segment),
                 fmt::format("{}", message.offset),
                 fmt::format("{}", message.size),
                 fmt::format("{}", message.receive_count),
                 harmless(message.found_at),
                 harmless(message.error)});
    }
    after = page->next.value_or("");
  } while (!after.empty());
  if (session.json) return {};
  if (table.empty()) {
    session.terminal().err << fmt::format("no damaged {}\n", damaged_noun(options, 0));
  } else {
    session.terminal().out << table.text(session.terminal());
  }
  return {};
}

Answer<void> run_damaged_drop(const DamagedOptions& options, Session& session) {
  std::string body;
  wire::encode_json(body, TRY(choice_of(options)));
  RETURN_IF_ERROR(ask_permission(session,
                                 options.yes,
                                 fmt::format("Permanently delete damaged {} of {}?",
                                             damaged_noun(options, 0),
                                             harmless(options.owner))));
  documents::Touched dropped{.more = true};
  while (dropped.more) {
    const auto touched = TRY(
        session.service.manage<documents::Touched>("POST", damaged_path(options, "/drop"), body));
    dropped.messages += touched->messages;
    dropped.more = touched->more && touched->messages > 0;
  }
  if (session.json) {
    session.terminal().out << json_line(dropped);
  } else {
    session.terminal().out << fmt::format(
        "{} damaged {} dropped\n", dropped.messages, damaged_noun(options, dropped.messages));
  }
  return {};
}

Answer<void> run_damaged_retry(const DamagedOptions& options, Session& session) {
  documents::DamagedChoice choice = TRY(choice_of(options));
  documents::DamagedRetried sum;
  std::string after;
  do {
    if (!after.empty()) choice.after = after;
    std::string body;
    wire::encode_json(body, choice);
    const auto retried = TRY(session.service.manage<documents::DamagedRetried>(
        "POST", damaged_path(options, "/retry"), body));
    sum.restored += retried->restored;
    sum.still_damaged += retried->still_damaged;
    after = retried->next.value_or("");
  } while (!after.empty());
  if (session.json) {
    session.terminal().out << json_line(sum);
  } else {
    session.terminal().out << fmt::format(
        "{} restored, {} still damaged\n", sum.restored, sum.still_damaged);
  }
  return {};
}

void add_damaged(Verb parent, Commands& commands, bool of_function) {
  const std::string things = of_function ? "damaged events" : "damaged messages";
  Verb damaged = parent.verb("damaged", "List, retry and drop " + things);
  damaged.needs_a_verb();
  const auto add = [&](const std::string& name,
                       const std::string& help,
                       Answer<void> (*run)(const DamagedOptions&, Session&)) {
    auto options = std::make_shared<DamagedOptions>(DamagedOptions{.of_function = of_function});
    Verb verb = damaged.verb(name, help);
    const auto work = [options, run](Session& session) { return run(*options, session); };
    if (of_function) {
      verb.option("FUNCTION", options->owner, "Name or ARN, with a qualifier if it has one")
          .required();
      commands.attach(verb, work);
    } else {
      verb.option("QUEUE", options->owner, "Name, URL or ARN").required();
      commands.attach(verb, work, [options] { return options->owner; });
    }
    return std::pair(verb, options);
  };
  add("ls", "List " + things + " with file, offset and error", &run_damaged_list);
  auto [retry, retried] = add("retry",
                              "Read " + things +
                                  " again, for example after restoring a file; intact ones return "
                                  "to their queue",
                              &run_damaged_retry);
  retry.option("MESSAGE", retried->messages, "Keys of messages").many();
  retry.flag("--all", retried->all, "All " + things);
  auto [drop, dropped] = add("drop", "Permanently delete " + things, &run_damaged_drop);
  drop.option("MESSAGE", dropped->messages, "Keys of messages").many();
  drop.flag("--all", dropped->all, "All " + things);
  drop.flag("-y,--yes", dropped->yes, "Do not ask for confirmation");
}

}  // namespace

void add_queue_damaged(Verb parent, Commands& commands) {
  add_damaged(parent, commands, false);
}

void add_function_damaged(Verb parent, Commands& commands) {
  add_damaged(parent, commands, true);
}

}  // namespace redrive::cli
