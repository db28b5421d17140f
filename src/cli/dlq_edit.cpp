#include <fmt/format.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/message_key.h"
#include "cli/message_pages.h"
#include "cli/outgoing.h"
#include "cli/queue_document.h"
#include "cli/queue_name.h"
#include "documents/corrections.h"
#include "documents/message_page.h"

// redrive dlq edit: corrects a message, and sends it back to work in the same step.

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
  Verb verb = parent.verb("edit", "Correct a message, and redrive it in the same step");
  verb.option("QUEUE", options->queue, "Name, URL or ARN").required();
  verb.option("MESSAGE", options->message, "Key or MessageId").required();
  const Option body = verb.option("--body", options->body, "Another body");
  verb.option("--patch", options->patch, "JSON Patch for the body")
      .value_name("JSON")
      .excludes(body);
  verb.option("--set", options->set, "Give it an attribute")
      .value_name("NAME[:TYPE]=VALUE")
      .one_at_a_time();
  verb.option("--remove", options->remove, "Take an attribute away")
      .value_name("NAME")
      .one_at_a_time();
  verb.flag("--redrive", options->redrive, "Send it back to the queue it came from");
  verb.option("--to", options->to, "Send it to this queue");
  verb.option("--reason", options->reason, "Why; stands in the message's history");
  verb.flag("--unmasked", options->unmasked, "Show values that look like secrets");
  commands.attach(
      verb,
      [options](Session& session) { return run_dlq_edit(*options, session); },
      [options] { return options->queue; });
}

}  // namespace redrive::cli
