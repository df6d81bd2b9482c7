/* Plugins that refuse, fail and stay: for tests. */
#include "plugins/plugin_api.h"

static int refuse_commit(void *data, const commitd_transaction *transaction) {
  (void)data;
  (void)transaction;
  return 1;
}

static int init_refuses(const commitd_host *host) {
  static const commitd_transaction_observer observer = {.before_commit = refuse_commit};
  return host->observe_transactions(host, &observer);
}

static int refuse_reader(void *data, const commitd_reader *reader) {
  (void)data;
  (void)reader;
  return COMMITD_REFUSE;
}

static int init_refuses_readers(const commitd_host *host) {
  static const commitd_transmit_observer observer = {.transmit_start = refuse_reader};
  return host->observe_transmit(host, &observer);
}

static int observe_and_fail(const commitd_host *host) {
  init_refuses(host);
  return 1;
}

static int do_nothing(const commitd_host *host) {
  (void)host;
  return 0;
}

static const char *in_use(void) { return "It is in use for ever."; }

#define PLUGIN(its_name, its_init) .interface_version = COMMITD_PLUGIN_INTERFACE, .name = its_name, .license = "Apache-2.0", .init = its_init

const commitd_plugin commitd_plugin_declarations[] = {
    {PLUGIN("test_refuses_commits", init_refuses)},
    {PLUGIN("test_refuses_readers", init_refuses_readers)},
    {PLUGIN("test_fails", observe_and_fail)},
    {PLUGIN("test_stays", do_nothing), .flags = COMMITD_PLUGIN_NO_UNINSTALL},
    {PLUGIN("test_at_start", do_nothing), .flags = COMMITD_PLUGIN_NO_INSTALL},
    {PLUGIN("test_in_use", do_nothing), .why_in_use = in_use},
    {.interface_version = COMMITD_PLUGIN_INTERFACE + 1, .name = "test_of_another_release", .init = do_nothing},
    {0},
};
