#include "cli/apply/deploy_guess.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include <array>
#include <string_view>
#include <vector>

#include "base/file_system.h"

namespace redrive::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPythonRuntime = "python3.11";
constexpr std::string_view kNodeRuntime = "nodejs20.x";
constexpr std::string_view kOwnRuntime = "provided.al2023";
constexpr std::array<std::string_view, 15> kEntryFiles = {"bootstrap",
                                                          "lambda_function.py",
                                                          "index.py",
                                                          "app.py",
                                                          "handler.py",
                                                          "main.py",
                                                          "index.mjs",
                                                          "index.js",
                                                          "index.cjs",
                                                          "app.mjs",
                                                          "app.js",
                                                          "handler.mjs",
                                                          "handler.js",
                                                          "main.mjs",
                                                          "main.js"};
constexpr std::array<std::string_view, 3> kHandlerNames = {"lambda_handler", "handler", "main"};

bool is_python(std::string_view file) {
  return file.ends_with(".py");
}

bool is_node(std::string_view file) {
  return file.ends_with(".js") || file.ends_with(".mjs") || file.ends_with(".cjs");
}

std::string content_of(const fs::path& path) {
  return read_file(path).value_or("");
}

bool defines(std::string_view text, std::string_view file, std::string_view name) {
  std::vector<std::string> ways;
  if (is_python(file)) {
    ways = {fmt::format("def {}(", name), fmt::format("\n{} =", name)};
  } else {
    ways = {fmt::format("exports.{}", name),
            fmt::format("function {}(", name),
            fmt::format("const {} =", name),
            fmt::format("let {} =", name)};
  }
  for (const std::string& way : ways)
    if (text.find(way) != text.npos) return true;
  return false;
}

// The handler function in a file: the first of the usual names that it defines.
std::string_view handler_name(const fs::path& path, std::string_view file) {
  const std::string text = content_of(path);
  for (const std::string_view name : kHandlerNames)
    if (defines(text, file, name)) return name;
  return "handler";
}

std::optional<DeployGuess> guess_file(const fs::path& path, const std::string& file) {
  if (file == "bootstrap") return DeployGuess{.handler = file, .runtime = std::string(kOwnRuntime)};
  if (!is_python(file) && !is_node(file)) return std::nullopt;
  const std::string module = file.substr(0, file.rfind('.'));
  return DeployGuess{.handler = fmt::format("{}.{}", module, handler_name(path, file)),
                     .runtime = std::string(is_python(file) ? kPythonRuntime : kNodeRuntime)};
}

// The main file according to package.json; empty if there is none.
std::string main_of_package(const fs::path& directory) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  std::string_view main;
  const auto error = parser.load((directory / "package.json").string()).get(document);
  if (error != simdjson::SUCCESS || document["main"].get(main) != simdjson::SUCCESS) return {};
  return fs::path(main).lexically_normal().string();
}

}  // namespace

std::optional<DeployGuess> guess_deployment(const fs::path& source) {
  std::error_code ignored;
  if (!fs::is_directory(source, ignored)) return guess_file(source, source.filename().string());
  std::vector<std::string> files(kEntryFiles.begin(), kEntryFiles.end());
  if (auto main = main_of_package(source); !main.empty())
    files.insert(files.begin(), std::move(main));
  for (const std::string& file : files) {
    if (!fs::is_regular_file(source / file, ignored)) continue;
    if (auto guess = guess_file(source / file, file)) return guess;
  }
  return std::nullopt;
}

std::string guessed_files() {
  return fmt::format("{}, the main file of package.json", fmt::join(kEntryFiles, ", "));
}

}  // namespace redrive::cli
