/* A plugin that counts what it sees of commits and of those who read the log: see README.md beside it. */
#include "plugins/plugin_api.h"

#include <stdio.h>

static const commitd_host *host;
static void *commits, *rollbacks, *groups, *readers, *events, *received;

static void after_commit(void *data, const commitd_transaction *transaction) {
  (void)data;
  if (transaction->has_changes) host->count(commits, 1);
}

static void after_rollback(void *data, const commitd_transaction *transaction) {
  (void)data;
  (void)transaction;
  host->count(rollbacks, 1);
}

static void after_sync(void *data, const char *log_file, uint64_t log_position) {
  (void)data;
  (void)log_file;
  (void)log_position;
  host->count(groups, 1);
}

/* Of those that acknowledge only: the others cost nothing then. */
static int transmit_start(void *data, const commitd_reader *reader) {
  char text[128];
  (void)data;
  snprintf(text, sizeof text, "reader %u has come%s", reader->server_id, reader->semisync ? ", it acknowledges" : "");
  host->log(host, COMMITD_LOG_INFO, text);
  host->count(readers, 1);
  return reader->semisync ? COMMITD_OBSERVE : COMMITD_DONT_OBSERVE;
}

static void after_send_event(void *data, const commitd_reader *reader, const commitd_event *event) {
  (void)data;
  (void)reader;
  (void)event;
  host->count(events, 1);
}

static void after_queue_transaction(void *data, const commitd_source *source, const char *gtid) {
  (void)data;
  (void)source;
  (void)gtid;
  host->count(received, 1);
}

static int init(const commitd_host *of_commitd) {
  static const commitd_transaction_observer transactions = {.after_commit = after_commit, .after_rollback = after_rollback};
  static const commitd_storage_observer storage = {.after_sync = after_sync};
  static const commitd_transmit_observer transmit = {.transmit_start = transmit_start, .after_send_event = after_send_event};
  static const commitd_relay_observer relay = {.after_queue_transaction = after_queue_transaction};
  host = of_commitd;
  commits = host->counter(host, "commit_watch_commits", "Commits that commit_watch has seen.");
  rollbacks = host->counter(host, "commit_watch_rollbacks", "Rollbacks that commit_watch has seen.");
  groups = host->counter(host, "commit_watch_groups", "Durable groups that commit_watch has seen.");
  readers = host->counter(host, "commit_watch_readers", "Readers of the log that commit_watch has seen come.");
  events = host->counter(host, "commit_watch_events", "Events sent that commit_watch has seen.");
  received = host->counter(host, "commit_watch_received", "Received transactions that commit_watch has seen.");
  return host->observe_transactions(host, &transactions) || host->observe_storage(host, &storage) ||
         host->observe_transmit(host, &transmit) || host->observe_relay(host, &relay);
}

const commitd_plugin commitd_plugin_declarations[] = {
    {.interface_version = COMMITD_PLUGIN_INTERFACE,
     .name = "commit_watch",
     .author = "commitlab",
     .description = "Counts commits, groups and what readers are sent.",
     .license = "Apache-2.0",
     .version = 0x0100,
     .init = init},
    {0},
};
