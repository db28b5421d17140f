#pragma once

#include <CLI/App.hpp>

namespace redrive::server {

// `redrive journal check` and `redrive journal repair`.
void add_journal_tools(CLI::App& app, int& exit_code);

}  // namespace redrive::server
