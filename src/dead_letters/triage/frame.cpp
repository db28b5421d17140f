#include "dead_letters/triage/frame.h"

#include <algorithm>
#include <array>

#include "dead_letters/triage/characters.h"

namespace redrive::triage {
namespace {

constexpr auto npos = std::string_view::npos;

template <std::size_t N>
bool contains_any(std::string_view text, const std::array<std::string_view, N>& parts) {
  return std::ranges::any_of(parts, [&](auto part) { return text.find(part) != npos; });
}

template <std::size_t N>
bool starts_with_any(std::string_view text, const std::array<std::string_view, N>& prefixes) {
  return std::ranges::any_of(prefixes, [&](auto prefix) { return text.starts_with(prefix); });
}

constexpr auto kPythonForeign = std::to_array<std::string_view>({
    "site-packages/",
    "dist-packages/",
    "/lib/python",
    "/lib64/python",
    "/opt/python/",
    "/var/runtime/",
    "/var/lang/",
    "<frozen ",
    "\\lib\\",
    "\\Lib\\",
});

constexpr auto kNodeForeign = std::to_array<std::string_view>({
    "node_modules/",
    "node_modules\\",
    "node:",
    "<anonymous>",
    "internal/",
    "/var/runtime/",
    "webpack/bootstrap",
    ".yarn/",
});

constexpr auto kJavaForeign = std::to_array<std::string_view>({
    "java.",
    "javax.",
    "jakarta.",
    "jdk.",
    "sun.",
    "com.sun.",
    "kotlin.",
    "kotlinx.",
    "scala.",
    "groovy.",
    "clojure.",
    "org.codehaus.groovy.",
    "org.springframework.",
    "org.apache.",
    "org.hibernate.",
    "org.junit.",
    "org.eclipse.",
    "org.postgresql.",
    "org.slf4j.",
    "com.fasterxml.",
    "com.google.",
    "com.mysql.",
    "com.zaxxer.",
    "com.amazonaws.",
    "software.amazon.",
    "io.netty.",
    "io.awspring.",
    "io.micronaut.",
    "io.quarkus.",
    "io.vertx.",
    "reactor.",
    "ch.qos.logback.",
    "lambdainternal.",
    "akka.",
    "okhttp3.",
});

constexpr auto kDotNetForeign = std::to_array<std::string_view>({
    "System.",
    "Microsoft.",
    "Newtonsoft.",
    "Amazon.",
    "AWSSDK.",
    "MassTransit.",
    "NServiceBus.",
    "Npgsql.",
    "Polly.",
    "lambda_method",
});

constexpr auto kGoForeign = std::to_array<std::string_view>({
    "/go/src/",
    "/libexec/src/",
    "/pkg/mod/",
    "/vendor/",
    "_testmain.go",
});

constexpr auto kSourceRoots = std::to_array<std::string_view>({
    "src",
    "lib",
    "app",
    "apps",
    "dist",
    "task",
    "build",
    "out",
    "code",
    "source",
    "workspace",
});

bool is_digest(std::string_view part) {
  return part.size() >= 6 && std::ranges::all_of(part, is_hex) &&
         std::ranges::any_of(part, is_digit);
}

// main.8f3a2b1c.js, chunk-8f3a2b1c.mjs and index.js?v=12 are main.js, chunk.mjs and index.js.
std::string plain_file_name(std::string_view name) {
  name = name.substr(0, name.find_first_of("?#"));
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t size = run(name, at, [](char c) { return c != '.' && c != '-'; });
    const std::string_view part = name.substr(at, size);
    if (is_digest(part) && !out.empty()) {
      out.pop_back();
    } else {
      out += part;
    }
    at += size;
    if (at < name.size()) out += name[at++];
  }
  return out;
}

bool is_source_root(std::string_view directory) {
  return std::ranges::find(kSourceRoots, directory) != kSourceRoots.end();
}

// Removes compiler-generated numbers: Foo$1, lambda$main$0, func1, Dictionary`2, d__5.
std::string without_counters(std::string_view function) {
  std::string out;
  for (std::size_t at = 0; at < function.size(); ++at) {
    const bool counts = out.empty() || out.ends_with('$') || out.ends_with('_') ||
                        out.ends_with('`') || out.ends_with('.') || out.ends_with("func");
    if (counts && is_digit(function[at])) {
      at += run(function, at, is_digit) - 1;
    } else {
      out += function[at];
    }
  }
  return out;
}

// Removes the numbers at the end of "name:12:5"; nullopt if there are fewer.
std::optional<std::string_view> before_numbers(std::string_view text, int numbers) {
  for (int i = 0; i < numbers; ++i) {
    const std::size_t colon = text.rfind(':');
    if (colon == npos || colon + 1 == text.size()) return std::nullopt;
    if (run(text, colon + 1, is_digit) != text.size() - colon - 1) return std::nullopt;
    text = text.substr(0, colon);
  }
  return text;
}

// Splits "handle (/app/a.js:1:2)"; a location without a function has no parentheses.
struct Call {
  std::string_view function;
  std::string_view place;
};

std::optional<Call> split_call(std::string_view line) {
  if (!line.ends_with(')')) return std::nullopt;
  int depth = 0;
  for (std::size_t at = line.size(); at-- > 0;) {
    if (line[at] == ')') ++depth;
    if (line[at] == '(' && --depth == 0) {
      return Call{trim(line.substr(0, at)), line.substr(at + 1, line.size() - at - 2)};
    }
  }
  return std::nullopt;
}

std::string node_function(std::string_view name) {
  for (const std::string_view word : {"async ", "new "}) {
    if (name.starts_with(word)) name.remove_prefix(word.size());
  }
  name = name.substr(0, name.find(" [as "));
  // The receiver's class depends on the call, so it is dropped unless it is all there is.
  for (const std::string_view receiver : {"Object.", "Module.", "exports.", "Function."}) {
    if (name.starts_with(receiver)) name.remove_prefix(receiver.size());
  }
  return std::string(name);
}

std::optional<Frame> node_frame(std::string_view line) {
  if (const auto call = split_call(line)) {
    const bool builtin = call->place == "<anonymous>" || call->place == "native" ||
                         call->place.starts_with("index ");
    if (builtin) return Frame{node_function(call->function), "", false};
    const auto file = before_numbers(call->place, 2);
    if (!file) return std::nullopt;
    return Frame{
        node_function(call->function), portable_path(*file), !contains_any(*file, kNodeForeign)};
  }
  if (line.starts_with("async ")) line.remove_prefix(6);
  const auto file = before_numbers(line, 2);
  if (!file) return std::nullopt;
  return Frame{"<anonymous>", portable_path(*file), !contains_any(*file, kNodeForeign)};
}

bool is_java_place(std::string_view place) {
  if (place == "Native Method" || place == "Unknown Source") return true;
  const std::string_view file = before_numbers(place, 1).value_or(place);
  for (const std::string_view ending : {".java", ".kt", ".scala", ".groovy", ".clj"}) {
    if (file.ends_with(ending)) return true;
  }
  return false;
}

std::optional<Frame> java_frame(std::string_view line) {
  // May be followed by a loader or a jar: "~[app.jar:1.2]".
  const std::size_t bracket = line.rfind(") ");
  if (bracket != npos) line = line.substr(0, bracket + 1);
  const auto call = split_call(line);
  if (!call || !is_java_place(call->place)) return std::nullopt;
  std::string_view function = call->function;
  // java.base@17/java.util.HashMap.get, app//com.acme.Main.main: drop the module.
  const std::size_t lambda = function.find("$$Lambda");
  const std::size_t slash = function.substr(0, lambda).rfind('/');
  if (slash != npos) function.remove_prefix(slash + 1);
  const bool in_app = !starts_with_any(function, kJavaForeign);
  // Run-time generated classes have a number or an address after $$.
  std::string name(function.substr(0, function.find("$$")));
  if (name.size() < function.size()) name += function.substr(function.rfind('.'));
  const std::string_view file = before_numbers(call->place, 1).value_or(call->place);
  return Frame{without_counters(name), std::string(file.ends_with("thod") ? "" : file), in_app};
}

// Acme.Orders.Handler.<HandleAsync>d__5.MoveNext() is Acme.Orders.Handler.HandleAsync.
std::string dot_net_function(std::string_view name) {
  name = name.substr(0, name.find('('));
  const std::size_t open = name.find(".<");
  const std::size_t close = name.find(">d__");
  const bool state_machine = open != npos && close != npos && open + 2 < close;
  if (!state_machine) return without_counters(name);
  return std::string(name.substr(0, open + 1)).append(name.substr(open + 2, close - open - 2));
}

std::optional<Frame> dot_net_frame(std::string_view line) {
  std::string_view function = line;
  std::string file;
  const std::size_t place = line.rfind(":line ");
  const std::size_t in = line.find(") in ");
  if (place != npos && in != npos && in < place) {
    function = line.substr(0, in + 1);
    file = portable_path(line.substr(in + 5, place - in - 5));
  }
  if (function.find('(') == npos || function.find('.') == npos) return std::nullopt;
  return Frame{dot_net_function(function), file, !starts_with_any(function, kDotNetForeign)};
}

}  // namespace

std::string portable_path(std::string_view path) {
  std::string slashes(path);
  std::ranges::replace(slashes, '\\', '/');
  const std::string_view whole = slashes;
  const bool absolute = whole.starts_with('/') || whole.find(":/") != npos;
  std::size_t begin = absolute ? whole.rfind('/') + 1 : 0;
  for (std::size_t at = 0; at < whole.size();) {
    const std::size_t size = run(whole, at, [](char c) { return c != '/'; });
    const bool directory = at + size < whole.size();
    if (directory && is_source_root(whole.substr(at, size))) begin = at + size + 1;
    at += size + 1;
  }
  std::string_view kept = whole.substr(begin);
  while (kept.starts_with("./")) kept.remove_prefix(2);
  const std::size_t name = kept.rfind('/') + 1;  // npos + 1 is 0.
  return std::string(kept.substr(0, name)) + plain_file_name(kept.substr(name));
}

std::optional<Frame> python_frame(std::string_view line) {
  if (!line.starts_with("File \"")) return std::nullopt;
  const std::size_t end = line.find("\", line ");
  if (end == npos) return std::nullopt;
  const std::string_view file = line.substr(6, end - 6);
  const std::size_t in = line.find(", in ", end);
  const std::string_view function = in == npos ? "<module>" : trim(line.substr(in + 5));
  return Frame{std::string(function), portable_path(file), !contains_any(file, kPythonForeign)};
}

std::optional<Frame> at_frame(std::string_view line) {
  line = trim(line);
  if (auto frame = java_frame(line)) return frame;
  if (line.rfind(":line ") != npos) return dot_net_frame(line);
  if (auto frame = node_frame(line)) return frame;
  return dot_net_frame(line);
}

std::optional<Frame> go_frame(std::string_view function_line, std::string_view file_line) {
  const std::size_t go = file_line.find(".go:");
  const auto call = split_call(trim(function_line));
  if (go == npos || !call || call->function.empty()) return std::nullopt;
  const std::string_view file = trim(file_line.substr(0, go + 3));
  const bool runtime = call->function == "panic" || call->function.starts_with("runtime.");
  return Frame{without_counters(call->function),
               portable_path(file),
               !runtime && !contains_any(file, kGoForeign)};
}

}  // namespace redrive::triage
