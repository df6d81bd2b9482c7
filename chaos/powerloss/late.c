#include "late.h"

#include <time.h>

#define MS INT64_C(1000000)

/* TCP's: what was lost is sent again after the first, and each time that it is lost again after twice as long, up to the last. No quicker
 * retransmission is known here. */
#define FIRST_WAIT (200 * MS)
#define LONGEST_WAIT (1600 * MS)

int64_t late_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* xorshift: no two runs lose the same. */
static int per_cent(void) {
  static uint64_t state;
  if (state == 0) state = (uint64_t)late_clock() | 1;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (int)(state % 100);
}

int64_t late_arrival(int64_t now) {
  struct trouble trouble;
  if (!trouble_now(TROUBLE_NETWORK, &trouble)) return now;
  const int64_t never = now + trouble.for_ms * MS; /* the network is whole again before */
  int64_t due = now + trouble.network.delay_ms * MS, wait = FIRST_WAIT;
  while (due < never && per_cent() < trouble.network.loss_percent) {
    due += wait;
    if (wait < LONGEST_WAIT) wait *= 2;
  }
  return due;
}
