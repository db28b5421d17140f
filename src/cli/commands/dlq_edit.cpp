#include <fmt/format.h>

#include "base/text.h"
#include "cli/client/message_key.h"
#include "cli/client/message_pages.h"
#include "cli/client/outgoing.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/commands/commands.h"
#include "manage/documents/corrections.h"
#include "manage/documents/message_page.h"

// redrive dlq edit: corrects a message and redrives it in the same step.

namespace redrive::cli {
namespace {

struct DlqEditOptions {
  std::string queue;
  std::string message;
  std::optional<std::string> body;
  std::string patch;
  std::vector<std::string> set;
  std::vector<std::string> remove;
  std::string reason;
  bool redrive = false;
  bool unmasked = false;
  std::string to;
};

Answer<void> run_dlq_edit(const DlqEditOptions& options, Session& session) {
  std::vector<OutgoingAttribute> attributes;
  for (const std::string& text : options.set) {
    attributes.push_back(TRY(parse_attribute(text, session.world.environment)));
  }
  documents::EditRequest request{
      .patch = options.patch, .reason = options.reason, .destination = options.to};
  if (options.body) request.body = *options.body;
  if (options.redrive) request.redrive = true;
  for (const OutgoingAttribute& attribute : attributes) {
    request.set_attributes.emplace_back(attribute.name, to_value(attribute));
  }
  request.remove_attributes.assign(options.remove.begin(), options.remove.end());
  std::string body = TRY(request_body(request));
  const std::int64_t key = TRY(find_message_key(session, options.queue, options.message));
  const auto message = TRY(session.service.manage<documents::Message>(
      "POST",
      fmt::format("queues/{}/messages/{}/edit{}",
                  percent_encode(queue_name_of(options.queue), false),
                  key,
                  options.unmasked ? "?unmasked=true" : ""),
      std::move(body)));
  print_message(session, *message, options.unmasked ? Secrets::shown : Secrets::masked);
  return {};
}

}  // namespace

void add_dlq_edit(Verb parent, Commands& commands) {
  auto options = std::make_shared<DlqEditOptions>();
  Verb verb = parent.verb("edit", "Edit a message and optionally redrive it");
  verb.option("QUEUE", options->queue, "Name, URL or ARN").required();
  verb.option("MESSAGE", options->message, "Key or MessageId").required();
  const Option body = verb.option("--body", options->body, "New body");
  verb.option("--patch", options->patch, "JSON Patch for the body")
      .value_name("JSON")
      .excludes(body);
  verb.option("--set", options->set, "Set an attribute")
      .value_name("NAME[:TYPE]=VALUE")
      .one_at_a_time();
  verb.option("--remove", options->remove, "Remove an attribute")
      .value_name("NAME")
      .one_at_a_time();
  verb.flag("--redrive", options->redrive, "Also redrive it to its source queue");
  verb.option("--to", options->to, "Also redrive it to this queue");
  verb.option("--reason", options->reason, "Reason, recorded in the message's history");
  verb.flag("--unmasked", options->unmasked, "Do not mask values that look like secrets");
  commands.attach(
      verb,
      [options](Session& session) { return run_dlq_edit(*options, session); },
      [options] { return options->queue; });
}

}  // namespace redrive::cli
