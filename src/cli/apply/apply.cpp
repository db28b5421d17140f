#include "cli/apply/apply.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/apply/stack_site.h"
#include "cli/client/outgoing.h"
#include "cli/client/permission.h"
#include "stack/plan.h"

// redrive apply: brings a server in line with a template or a topology file.

namespace redrive::cli {
namespace {

namespace fs = std::filesystem;
using stack::Node;
using stack::PlanItem;
using stack::Step;

struct ApplyOptions {
  std::string file;
  std::string stack_name;
  std::vector<std::string> parameters;
  bool prune = false;
  bool yes = false;
  bool dry_run = false;
};

enum class Language : std::uint8_t { toml, json, yaml };

std::unexpected<Failure> unusable_file(const fs::path& path, const Error& error) {
  return usage_failure(fmt::format("{}: {}", path.string(), error.message));
}

Answer<std::string> read_whole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return usage_failure(fmt::format("cannot read {}", path.string()));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The only template in a CDK output directory.
Answer<fs::path> template_in(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().string().ends_with(".template.json")) found.push_back(entry.path());
  }
  if (found.size() == 1) return found[0];
  return usage_failure(fmt::format("{} contains {} templates (*.template.json); name one",
                                   directory.string(),
                                   found.empty() ? "no" : "several"));
}

Language language_of(const fs::path& path, std::string_view text) {
  if (path.extension() == ".toml") return Language::toml;
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != text.npos && text[begin] == '{' ? Language::json : Language::yaml;
}

Answer<Node> parse_file(const fs::path& path, const std::string& text) {
  const Language language = language_of(path, text);
  auto root = language == Language::toml   ? stack::read_toml(text)
              : language == Language::json ? stack::read_json(text)
                                           : stack::read_yaml(text);
  if (!root) return unusable_file(path, root.error());
  return *std::move(root);
}

// Orders.template.json belongs to the stack Orders.
std::string stem_of(const fs::path& path) {
  std::string stem = path.stem().string();
  if (stem.ends_with(".template")) stem.resize(stem.size() - 9);
  return stem;
}

// The CDK's asset manifest next to its template.
Answer<Node> assets_beside(const fs::path& path) {
  const fs::path list = path.parent_path() / (stem_of(path) + ".assets.json");
  std::error_code error;
  if (!fs::exists(list, error)) return Node();
  auto root = stack::read_json(TRY(read_whole(list)));
  if (!root) return unusable_file(list, root.error());
  return *std::move(root);
}

Answer<stack::Stack> read_stack(const ApplyOptions& options, Session& session, StackSite& site) {
  std::error_code error;
  const fs::path path = fs::is_directory(options.file, error) ? TRY(template_in(options.file))
                                                              : fs::path(options.file);
  const std::string text = TRY(read_whole(path));
  const Node root = TRY(parse_file(path, text));
  const bool topology = path.extension() == ".toml";
  stack::Surroundings around{.stack_name = options.stack_name,
                             .account = TRY(site.account()),
                             .region = session.endpoint.region,
                             .endpoint = session.endpoint.url,
                             .directory = path.parent_path()};
  if (around.stack_name.empty() && topology) around.stack_name = root["stack"].scalar();
  if (around.stack_name.empty()) around.stack_name = stem_of(path);
  for (const std::string& pair : options.parameters) {
    around.parameters.insert(TRY(parse_pair(pair)));
  }
  if (topology && !around.parameters.empty()) {
    return usage_failure("only templates have parameters");
  }
  const Node assets = TRY(assets_beside(path));
  auto read =
      topology ? stack::read_topology(root, around) : stack::read_template(root, assets, around);
  if (!read) return unusable_file(path, read.error());
  return *std::move(read);
}

struct StepWords {
  Step step;
  std::string_view sign;
  std::string_view word;
  Color color;
};
constexpr std::array kSteps = {
    StepWords{Step::create, "+", "create", Color::green},
    StepWords{Step::change, "~", "change", Color::yellow},
    StepWords{Step::remove, "-", "remove", Color::red},
    StepWords{Step::keep, "=", "keep", Color::dim},
    StepWords{Step::leave, "?", "leave", Color::dim},
};

const StepWords& words_of(Step step) {
  return *std::ranges::find(kSteps, step, &StepWords::step);
}

bool does_something(const PlanItem& item) {
  return item.step == Step::create || item.step == Step::change || item.step == Step::remove;
}

std::size_t count_of(const std::vector<PlanItem>& plan, Step step) {
  return static_cast<std::size_t>(std::ranges::count(plan, step, &PlanItem::step));
}

void print_item(Terminal& terminal, const PlanItem& item) {
  const StepWords& words = words_of(item.step);
  terminal.out << fmt::format(
      "  {} {}{}\n",
      paint(terminal, words.color, words.sign),
      harmless(item.title),
      item.step == Step::leave ? " is no longer in the file; --prune removes it" : "");
  if (item.step != Step::change) return;
  for (const stack::Difference& difference : item.differences) {
    terminal.out << fmt::format("      {}: {} → {}\n",
                                harmless(difference.property),
                                harmless(difference.before),
                                harmless(difference.after));
  }
}

void print_plan(Terminal& terminal, const stack::Stack& stack, const std::vector<PlanItem>& plan) {
  terminal.out << fmt::format("Stack {}\n", harmless(stack.name));
  for (const std::string& note : stack.notes) terminal.out << "  . " << harmless(note) << "\n";
  for (const PlanItem& item : plan) {
    if (item.step != Step::keep) print_item(terminal, item);
  }
  terminal.out << fmt::format("{} to create, {} to change, {} to remove, {} unchanged\n",
                              count_of(plan, Step::create),
                              count_of(plan, Step::change),
                              count_of(plan, Step::remove),
                              count_of(plan, Step::keep));
  terminal.out.flush();
}

// The plan as one line of JSON.
std::string plan_document(const stack::Stack& stack, const std::vector<PlanItem>& plan,
                          bool applied) {
  Node items = Node::list();
  for (const PlanItem& item : plan) {
    Node entry = Node::map({{"step", Node::text(std::string(words_of(item.step).word))},
                            {"kind", Node::text(std::string(stack::kind_name(item.kind)))},
                            {"title", Node::text(item.title)}});
    Node differences = Node::list();
    for (const stack::Difference& difference : item.differences) {
      differences.items().push_back(Node::map({{"property", Node::text(difference.property)},
                                               {"before", Node::text(difference.before)},
                                               {"after", Node::text(difference.after)}}));
    }
    if (!differences.items().empty()) entry.set("differences", std::move(differences));
    items.items().push_back(std::move(entry));
  }
  Node notes = Node::list();
  for (const std::string& note : stack.notes) notes.items().push_back(Node::text(note));
  return Node::map({{"stack", Node::text(stack.name)},
                    {"applied", Node::flag(applied)},
                    {"items", std::move(items)},
                    {"notes", std::move(notes)}})
             .json() +
         "\n";
}

Answer<void> perform_plan(Session& session, StackSite& site, const std::vector<PlanItem>& plan) {
  for (const PlanItem& item : plan) {
    if (!does_something(item)) continue;
    const auto done = site.perform(item);
    if (!done) {
      Failure failure = done.error();
      failure.message = fmt::format("{}: {}", item.title, failure.message);
      return std::unexpected(std::move(failure));
    }
    if (!session.json) {
      session.terminal().out << fmt::format(
          "{}d {}\n", words_of(item.step).word, harmless(item.title));
      session.terminal().out.flush();
    }
  }
  return {};
}

Answer<void> run_apply(const ApplyOptions& options, Session& session) {
  StackSite site(session);
  stack::Stack stack = TRY(read_stack(options, session, site));
  RETURN_IF_ERROR(site.leave_out_unknown(stack));
  RETURN_IF_ERROR(site.pack_code(stack));
  const auto there = TRY(site.look(stack));
  auto plan = stack::make_plan(stack, there, options.prune ? stack::Prune::yes : stack::Prune::no);
  if (!plan) return usage_failure(plan.error().message);
  if (!session.json) print_plan(session.terminal(), stack, *plan);
  const bool work = std::ranges::any_of(*plan, does_something) && !options.dry_run;
  if (work) {
    RETURN_IF_ERROR(ask_permission(session, options.yes, "Apply this?"));
    RETURN_IF_ERROR(perform_plan(session, site, *plan));
  }
  if (session.json) session.terminal().out << plan_document(stack, *plan, work);
  return {};
}

}  // namespace

void add_apply(Verb parent, Commands& commands) {
  auto options = std::make_shared<ApplyOptions>();
  Verb verb = parent.verb("apply", "Create and update resources from a file, after showing a plan");
  verb.option("FILE",
              options->file,
              "A TOML topology, a CloudFormation or SAM template (YAML or JSON), or a CDK output "
              "directory")
      .required();
  verb.flag(
      "--prune", options->prune, "Remove resources of this stack that are no longer in the file");
  verb.flag("--dry-run", options->dry_run, "Only show the plan");
  verb.flag("-y,--yes", options->yes, "Do not ask for confirmation");
  verb.option("--stack",
              options->stack_name,
              "Name of the stack (default: from the file, or the file's name)")
      .value_name("NAME");
  verb.option("--parameter", options->parameters, "Set a template parameter")
      .value_name("NAME=VALUE")
      .one_at_a_time();
  commands.attach(verb, [options](Session& session) { return run_apply(*options, session); });
}

}  // namespace redrive::cli
