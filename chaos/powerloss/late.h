/* When what is sent now arrives on a network with which something is wrong (TROUBLE_NETWORK). Called under one mutex. */
#pragma once
#include <stdint.h>

#include "trouble.h"

#pragma GCC visibility push(hidden)
/* ns, of a clock that only goes forward. */
int64_t late_clock(void);
/* `now` when it is not late. */
int64_t late_arrival(int64_t now);
#pragma GCC visibility pop
