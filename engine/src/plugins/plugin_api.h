/* What commitd and a plugin say to each other: plain C, so that any compiler will do. src/plugins/README.md.
 *
 * A plugin is a shared library in plugin_dir that defines `commitd_plugin_declarations`, an array that ends
 * with an entry without a name. init() registers observers; deinit() is called when none of them runs any
 * more.
 *
 * Observers are called on threads that commit and that serve readers: they must not wait for long, and must
 * not use commitd through a connection. What they are given is theirs until they return. */
#ifndef COMMITD_PLUGIN_API_H
#define COMMITD_PLUGIN_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Goes up when what is below changes; a library with another number is refused (1126). */
#define COMMITD_PLUGIN_INTERFACE 1

typedef struct commitd_transaction {
  uint32_t session;     /* CONNECTION_ID() */
  int has_changes;      /* 0: only with commitd_after_commit_hook=statements */
  const char* log_file; /* behind a commit: where it ends in the binary log; "" otherwise */
  uint64_t log_position;
  const char* gtid; /* "" as above */
} commitd_transaction;

/* On the thread of the session. A function that is NULL is not called. */
typedef struct commitd_transaction_observer {
  void* data;
  /* Not 0: the transaction is rolled back, and its client gets error 3100. */
  int (*before_commit)(void* data, const commitd_transaction* transaction);
  /* Durable, acknowledged and visible; the client has no answer yet. */
  void (*after_commit)(void* data, const commitd_transaction* transaction);
  void (*after_rollback)(void* data, const commitd_transaction* transaction);
} commitd_transaction_observer;

/* On the thread that writes the binary log, once for each group of transactions. */
typedef struct commitd_storage_observer {
  void* data;
  void (*after_flush)(void* data, const char* log_file, uint64_t log_position);
  void (*after_sync)(void* data, const char* log_file, uint64_t log_position);
} commitd_storage_observer;

typedef struct commitd_reader {
  uint32_t server_id;
  const char* server_uuid; /* "" when it told none */
  int semisync;            /* it acknowledges */
} commitd_reader;

typedef struct commitd_event {
  const char* log_file;
  uint64_t log_position; /* where the stream stands */
  const unsigned char* bytes;
  size_t length;
} commitd_event;

/* What transmit_start() returns. */
enum { COMMITD_DONT_OBSERVE = 0, COMMITD_OBSERVE = 1, COMMITD_REFUSE = 2 };

/* On the thread of a reader's session. */
typedef struct commitd_transmit_observer {
  void* data;
  /* When no observer answers COMMITD_OBSERVE, the two below are not called for this reader (unless
   * commitd_observe_every_dump is ON). COMMITD_REFUSE: the reader gets error 1236. */
  int (*transmit_start)(void* data, const commitd_reader* reader);
  void (*transmit_stop)(void* data, const commitd_reader* reader);
  /* Not 0: the reader gets error 1236 instead of this event. */
  int (*before_send_event)(void* data, const commitd_reader* reader, const commitd_event* event);
  void (*after_send_event)(void* data, const commitd_reader* reader, const commitd_event* event);
} commitd_transmit_observer;

typedef struct commitd_source {
  const char* host;
  uint16_t port;
} commitd_source;

/* On the thread of the receiver. */
typedef struct commitd_relay_observer {
  void* data;
  void (*thread_start)(void* data, const commitd_source* source);
  void (*thread_stop)(void* data, const commitd_source* source);
  /* A packet of the stream, without its leading OK byte. */
  void (*after_read_event)(void* data, const commitd_source* source, const unsigned char* bytes,
                           size_t length);
  /* A whole transaction has been handed to the log. */
  void (*after_queue_transaction)(void* data, const commitd_source* source, const char* gtid);
} commitd_relay_observer;

enum { COMMITD_LOG_INFO = 0, COMMITD_LOG_WARNING = 1, COMMITD_LOG_ERROR = 2 };

/* What commitd does for a plugin. The structures that are registered are copied; `data` stays the plugin's.
 */
typedef struct commitd_host {
  void* context;
  /* From init() only; 0, or not 0 when it is not. */
  int (*observe_transactions)(const struct commitd_host* host, const commitd_transaction_observer* observer);
  int (*observe_storage)(const struct commitd_host* host, const commitd_storage_observer* observer);
  int (*observe_transmit)(const struct commitd_host* host, const commitd_transmit_observer* observer);
  int (*observe_relay)(const struct commitd_host* host, const commitd_relay_observer* observer);
  /* A counter in /metrics and SHOW GLOBAL STATUS: commitd_plugin_NAME_total. Stays until the server ends. */
  void* (*counter)(const struct commitd_host* host, const char* name, const char* help);
  void (*count)(void* counter, uint64_t by);
  /* A line of the error log. */
  void (*log)(const struct commitd_host* host, int level, const char* text);
} commitd_host;

enum {
  COMMITD_PLUGIN_NO_INSTALL = 1,  /* only by --plugin-load-add (1722) */
  COMMITD_PLUGIN_NO_UNINSTALL = 2 /* 1721 */
};

typedef struct commitd_plugin {
  uint32_t interface_version; /* COMMITD_PLUGIN_INTERFACE */
  const char* name;           /* letters, digits and _ */
  const char *author, *description, *license;
  uint16_t version; /* 0x0102 is 1.2 */
  uint32_t flags;
  /* Not 0: it cannot be installed (1123). The host stays valid until deinit() has returned. */
  int (*init)(const commitd_host* host);
  /* May be NULL. A text: why it cannot be uninstalled now (1883). */
  const char* (*why_in_use)(void);
  void (*deinit)(void); /* may be NULL */
} commitd_plugin;

/* extern const commitd_plugin commitd_plugin_declarations[]; */
#define COMMITD_PLUGIN_DECLARATIONS "commitd_plugin_declarations"

#ifdef __cplusplus
}
#endif

#endif
