// Runs a fuzz target without a fuzzer: every file of a corpus, then a bounded number of seeded
// mutations of them. The same entry point serves libFuzzer and AFL++.
//
//   some_fuzz [--runs N] [--seed S] [corpus file or directory]...

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using redrive::SeededIds;

constexpr std::size_t kInputBytesMax = 64 << 10;

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> load_corpus(const std::vector<std::string>& paths) {
  std::vector<std::string> inputs;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      inputs.push_back(read_file(path));
      continue;
    }
    // Sorted by name, so that a seed means the same on every machine.
    std::set<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(path)) files.insert(entry.path());
    for (const auto& file : files) inputs.push_back(read_file(file));
  }
  return inputs;
}

// One small change: a byte, a deletion, a repetition, a piece of another input.
void mutate(std::string& input, const std::vector<std::string>& corpus, SeededIds& random) {
  const auto below = [&](std::size_t limit) { return limit == 0 ? 0 : random.bits() % limit; };
  const std::size_t at = below(input.size() + 1);
  switch (random.bits() % 6) {
    case 0:
      if (at < input.size()) input[at] = static_cast<char>(random.bits());
      break;
    case 1:
      if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
      break;
    case 2:
      input.insert(at, 1, static_cast<char>(random.bits()));
      break;
    case 3:
      input.erase(at, below(16) + 1);
      break;
    case 4:
      input.insert(at, input.substr(below(input.size() + 1), below(64)));
      break;
    default:
      if (!corpus.empty()) {
        const std::string& other = corpus[below(corpus.size())];
        input.insert(at, other.substr(below(other.size() + 1), below(256)));
      }
  }
  if (input.size() > kInputBytesMax) input.resize(kInputBytesMax);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t runs = 20'000;
  std::uint64_t seed = 1;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if ((word == "--runs" || word == "--seed") && i + 1 < argc) {
      (word == "--runs" ? runs : seed) = redrive::parse_int<std::uint64_t>(argv[++i]).value_or(1);
    } else {
      paths.push_back(word);
    }
  }
  const std::vector<std::string> corpus = load_corpus(paths);
  for (const std::string& input : corpus) run(input);
  SeededIds random(seed);
  std::string input;
  for (std::uint64_t i = 0; i < runs; ++i) {
    // Mutations accumulate for a while, then start again from the corpus.
    if (i % 8 == 0) input = corpus.empty() ? std::string() : corpus[random.bits() % corpus.size()];
    for (std::uint64_t n = random.bits() % 4; n != UINT64_MAX; --n) mutate(input, corpus, random);
    run(input);
  }
  std::printf("%llu inputs, no fault\n", static_cast<unsigned long long>(runs + corpus.size()));
  return 0;
}
