/* What is wrong with the disk for a while: calls that are refused, or late. It is the disk's, not the process's: the next process has it too. */
#pragma once
#include <stdint.h>

/* A full disk still syncs, and takes a file that becomes shorter. */
enum spoiled_call { SPOILED_WRITE, SPOILED_SYNC, SPOILED_CUT };

struct spoil {
  uint32_t id; /* of whoever asked; the same one again changes nothing */
  int error;   /* errno of the calls that are refused, or 0 */
  int percent; /* of the calls that are met */
  int syncs;   /* whether syncs and cuts are met, besides writes */
  long delay_ms, for_ms;
};

#pragma GCC visibility push(hidden)
/* Where it is kept. */
void spoil_open(const char *directory);
/* Begins, in place of what was wrong until now; for_ms 0 ends it. */
void spoil_begin(const struct spoil *spoil);
/* Before each call: waits if it is to be late, and returns the errno with which it is refused, or 0. */
int spoil_meet(enum spoiled_call call);
/* How many calls of the last one were met. */
uint64_t spoil_count(uint32_t *id);
#pragma GCC visibility pop
