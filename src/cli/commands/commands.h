#pragma once

#include "cli/client/command.h"

namespace redrive::cli {

// Each adds its commands to `parent` and is defined in a file of the same name.
void add_queue_create(Verb parent, Commands& commands);
void add_queue_list(Verb parent, Commands& commands);
void add_queue_show(Verb parent, Commands& commands);
void add_queue_set(Verb parent, Commands& commands);
void add_queue_purge(Verb parent, Commands& commands);
void add_queue_remove(Verb parent, Commands& commands);
void add_queue_damaged(Verb parent, Commands& commands);
void add_dlq_list(Verb parent, Commands& commands);
void add_dlq_peek(Verb parent, Commands& commands);
void add_dlq_groups(Verb parent, Commands& commands);
void add_dlq_group_rules(Verb parent, Commands& commands);
void add_find(Verb parent, Commands& commands);
void add_dlq_redrive(Verb parent, Commands& commands);
void add_dlq_edit(Verb parent, Commands& commands);
void add_dlq_bin(Verb parent, Commands& commands);
void add_dlq_policy(Verb parent, Commands& commands);
void add_job(Verb parent, Commands& commands);
void add_alarm(Verb parent, Commands& commands);
void add_dlq_search(Verb parent, Commands& commands);
void add_dlq_show(Verb parent, Commands& commands);
void add_dlq_export(Verb parent, Commands& commands);
void add_dlq_import(Verb parent, Commands& commands);
void add_dlq_watch(Verb parent, Commands& commands);
void add_dlq_try(Verb parent, Commands& commands);
void add_function_deploy(Verb parent, Commands& commands);
void add_function_verbs(Verb parent, Commands& commands);
void add_function_damaged(Verb parent, Commands& commands);
void add_mapping_verbs(Verb parent, Commands& commands);
void add_doctor(Verb parent, Commands& commands);
void add_topology(Verb parent, Commands& commands);
void add_key_new(Verb parent, Commands& commands);
void add_send(Verb parent, Commands& commands);
void add_receive(Verb parent, Commands& commands);
void add_tail(Verb parent, Commands& commands);
void add_clock(Verb parent, Commands& commands);
void add_console(Verb parent, Commands& commands);
void add_reset(Verb parent, Commands& commands);
void add_consume(Verb parent, Commands& commands);
void add_demo(Verb parent, Commands& commands);
void add_logs(Verb parent, Commands& commands);
void add_top(Verb parent, Commands& commands);
void add_archive_list(Verb parent, Commands& commands);
void add_archive_search(Verb parent, Commands& commands);
void add_archive_show(Verb parent, Commands& commands);
void add_archive_restore(Verb parent, Commands& commands);
void add_archive_remove(Verb parent, Commands& commands);

}  // namespace redrive::cli
