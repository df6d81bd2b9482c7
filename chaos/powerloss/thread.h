/* A thread of the library's own, in the process that it is loaded into. */
#pragma once

#pragma GCC visibility push(hidden)
/* It gets none of the process's signals. */
void library_thread(void *(*run)(void *), void *argument);
/* In such a thread: what is wrong with the network is not its concern. */
extern __thread int library_thread_runs;
#pragma GCC visibility pop
