/* What is wrong with the machine for a while. It is the machine's, not the process's: the next process has it too. */
#pragma once
#include <stdint.h>

enum trouble_kind { TROUBLE_DISK, TROUBLE_NETWORK, TROUBLE_CLOCK, TROUBLE_PROCESSORS, TROUBLE_MEMORY, TROUBLES };

struct trouble {
  uint32_t id; /* of whoever asked; the same one again changes nothing */
  long for_ms;
  union {
    struct {
      int error;   /* errno of the calls that are refused, or 0 */
      int percent; /* of the calls that are met */
      int syncs;   /* whether syncs and cuts are met, besides writes */
      long delay_ms;
    } disk;
    struct {
      long delay_ms;
      int loss_percent;
    } network;
    struct {
      long offset_ms;
    } clock;
    struct {
      int threads;
    } processors;
    struct {
      long bytes;
    } memory;
  };
};

#pragma GCC visibility push(hidden)
/* Where it is kept. */
void trouble_open(const char *directory);
/* Begins, in place of what was wrong of that kind until now; for_ms 0 ends it. 1 when it has begun just now. */
int trouble_begin(enum trouble_kind kind, const struct trouble *trouble);
/* 1, and which, while there is one of that kind. Costs next to nothing while there is none. */
int trouble_now(enum trouble_kind kind, struct trouble *trouble);
/* What the last one of that kind has done, in its own measure. */
void trouble_add(enum trouble_kind kind, uint64_t more);
uint64_t trouble_count(enum trouble_kind kind, uint32_t *id);
#pragma GCC visibility pop
