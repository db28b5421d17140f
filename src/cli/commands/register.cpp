#include "cli/commands/register.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <thread>

#include "cli/apply/apply.h"
#include "cli/commands/commands.h"
#include "cli/worker/worker.h"

namespace redrive::cli {
namespace {

struct RealWorld {
  auth::SystemEnvironment environment;
  SystemClock clock;
  RandomIds ids;
  SignalInterrupt interrupt;
  World world{.terminal = {.in = std::cin,
                           .out = std::cout,
                           .err = std::cerr,
                           .in_is_terminal = isatty(STDIN_FILENO) == 1,
                           .out_is_terminal = isatty(STDOUT_FILENO) == 1,
                           .err_is_terminal = isatty(STDERR_FILENO) == 1},
              .environment = environment,
              .clock = clock,
              .ids = ids,
              .interrupt = interrupt,
              .connect = [] { return std::make_unique<HttpTransport>(); },
              .sleep = [](Duration pause) { std::this_thread::sleep_for(pause); }};

  RealWorld() {
    const bool wanted = environment.variable("NO_COLOR").value_or("").empty() &&
                        environment.variable("TERM").value_or("") != "dumb";
    world.terminal.colored = world.terminal.out_is_terminal && wanted;
  }
};

}  // namespace

void register_commands(Verb program, int& exit_code) {
  // Commands run while the arguments are parsed, possibly until the end of main.
  static RealWorld real;
  register_commands(program, real.world, exit_code);
}

void register_commands(Verb program, World& world, int& exit_code) {
  Commands commands(world, exit_code);
  Verb queue = program.verb("queue", "Create, list, change and delete queues");
  queue.needs_a_verb();
  add_queue_create(queue, commands);
  add_queue_list(queue, commands);
  add_queue_show(queue, commands);
  add_queue_set(queue, commands);
  add_queue_purge(queue, commands);
  add_queue_remove(queue, commands);
  add_queue_damaged(queue, commands);
  Verb dlq = program.verb("dlq", "Inspect, redrive, edit and discard dead letters");
  dlq.needs_a_verb();
  add_dlq_list(dlq, commands);
  add_dlq_groups(dlq, commands);
  add_dlq_group_rules(dlq, commands);
  add_dlq_show(dlq, commands);
  add_dlq_peek(dlq, commands);
  add_dlq_search(dlq, commands);
  add_dlq_redrive(dlq, commands);
  add_dlq_edit(dlq, commands);
  add_dlq_bin(dlq, commands);
  add_dlq_policy(dlq, commands);
  add_dlq_export(dlq, commands);
  add_dlq_import(dlq, commands);
  add_dlq_watch(dlq, commands);
  add_dlq_try(dlq, commands);
  Verb function = program.verb("function", "Deploy, run and inspect functions");
  function.needs_a_verb();
  add_function_deploy(function, commands);
  add_function_verbs(function, commands);
  add_function_damaged(function, commands);
  Verb mapping = program.verb("mapping", "Manage event source mappings (queue to function)");
  mapping.needs_a_verb();
  add_mapping_verbs(mapping, commands);
  Verb job = program.verb("job", "Show and control redrive jobs");
  job.needs_a_verb();
  add_job(job, commands);
  Verb alarm = program.verb("alarm", "Manage alarms and check their notifications");
  alarm.needs_a_verb();
  add_alarm(alarm, commands);
  add_apply(program, commands);
  add_doctor(program, commands);
  add_topology(program, commands);
  Verb key = program.verb("key", "Create access keys");
  key.needs_a_verb();
  add_key_new(key, commands);
  add_send(program, commands);
  add_receive(program, commands);
  add_tail(program, commands);
  add_find(program, commands);
  add_clock(program, commands);
  add_console(program, commands);
  add_reset(program, commands);
  add_worker(program, commands);
  add_consume(program, commands);
  add_demo(program, commands);
  add_logs(program, commands);
  add_top(program, commands);
  Verb archive = program.verb("archive", "Search, show and restore archived messages");
  archive.needs_a_verb();
  add_archive_list(archive, commands);
  add_archive_search(archive, commands);
  add_archive_show(archive, commands);
  add_archive_restore(archive, commands);
  add_archive_remove(archive, commands);
}

}  // namespace redrive::cli
