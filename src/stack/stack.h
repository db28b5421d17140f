#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stack/node.h"

namespace redrive::stack {

using Tags = std::map<std::string, std::string>;

// What a stack consists of, in the order in which it is made; it is removed the other way round.
enum class Kind : std::uint8_t { bucket, queue, function, invoke_config, mapping, alarm };
std::string_view kind_name(Kind kind);

// Among the properties of a queue, beside its SQS attributes: what it does with its messages by
// itself, a document of the management API.
inline constexpr std::string_view kDeadLetters = "DeadLetters";

// Where a function's code comes from.
struct Code {
  enum class From : std::uint8_t {
    text,       // One file, written in the template.
    path,       // A zip, or a file or directory to be put into one.
    bucket,     // An object of the server's own.
    directory,  // Not copied at all: the server runs what is there.
  };
  From from = From::text;
  std::string text;            // Of From::text.
  std::filesystem::path path;  // Of From::path and From::directory.
  std::string bucket_name;     // Of From::bucket, like the next.
  std::string key;
};

// One thing that should be there.
struct Resource {
  Kind kind;
  std::string id;  // What the file calls it.
  std::string
      name;  // What the server calls it. A mapping: the queue's ARN and the function's name.
  // In the words of its API: the attributes of a queue (all texts), the members of CreateFunction,
  // CreateEventSourceMapping, PutMetricAlarm.
  Node properties = Node::map();
  Tags tags;
  std::optional<Code> code;

  std::string title() const;  // For people: "queue orders".
};

struct Stack {
  std::string name;
  std::vector<Resource> resources;
  std::vector<std::string> notes;  // What was left out, and why.
};

// What a file cannot know by itself.
struct Surroundings {
  std::string stack_name;
  std::string account;
  std::string region;
  std::string endpoint;             // http://127.0.0.1:9324, for queue URLs.
  std::filesystem::path directory;  // That of the file: code is beside it.
  std::map<std::string, std::string> parameters;

  std::string arn(std::string_view service, std::string_view rest) const;
  std::string queue_arn(std::string_view name) const { return arn("sqs", name); }
  std::string queue_url(std::string_view name) const;
  std::string function_arn(std::string_view name) const;
};

// A CloudFormation template, also one that SAM or the CDK wrote: its functions resolved, its
// resources translated. What Redrive has no use for becomes a note. `assets` is the CDK's list of
// files beside the template, or null.
Result<Stack> read_template(const Node& root, const Node& assets, const Surroundings& around);
// Redrive's own form, from the tables of a TOML document. Settings of the server, which the same
// file may hold, are passed over.
Result<Stack> read_topology(const Node& root, const Surroundings& around);
Result<Node> read_toml(std::string_view text);

// A queue after the dead-letter queue it names, everything else by kind. Refuses two resources of
// one name, and queues that are each other's dead-letter queues.
Result<void> put_in_order(Stack& stack);

// The name of a mapping.
std::string mapping_name(std::string_view queue_arn, std::string_view function_name);
std::string_view last_part(std::string_view arn);

}  // namespace redrive::stack
