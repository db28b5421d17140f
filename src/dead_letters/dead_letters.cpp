#include "dead_letters/dead_letters.h"

#include <ranges>

namespace redrive::dead_letters {

DeadLetters::DeadLetters(engine::Engine& engine, Options options)
    : policy_book(std::move(options.policies)),
      peek(engine, policy_book),
      lineages(engine, peek),
      bin(engine),
      moves(engine),
      damage(engine),
      jobs(engine, policy_book, damage, std::move(options.jobs)),
      settled(engine, options.settled),
      processed(engine),
      groups(engine),
      policies(engine, policy_book, std::move(options.archive)),
      engine_(engine),
      extensions_{&jobs, &settled, &processed, &groups, &policies, &damage} {
  for (engine::Extension* const extension : extensions_) engine_.attach(*extension);
}

DeadLetters::~DeadLetters() {
  for (engine::Extension* const extension : std::views::reverse(extensions_)) {
    engine_.detach(*extension);
  }
}

}  // namespace redrive::dead_letters
