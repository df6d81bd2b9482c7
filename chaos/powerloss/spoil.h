/* A disk with which something is wrong (TROUBLE_DISK): calls that are refused, or late. */
#pragma once

/* A full disk still syncs, and takes a file that becomes shorter. */
enum spoiled_call { SPOILED_WRITE, SPOILED_SYNC, SPOILED_CUT };

#pragma GCC visibility push(hidden)
/* Before each call: waits if it is to be late, and returns the errno with which it is refused, or 0. */
int spoil_meet(enum spoiled_call call);
#pragma GCC visibility pop
