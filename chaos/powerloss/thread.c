#define _GNU_SOURCE
#include "thread.h"

#include <pthread.h>
#include <signal.h>

#include "fail.h"

__thread int library_thread_runs;

struct begun {
  void *(*run)(void *);
  void *argument;
};

static void *begin(void *given) {
  const struct begun begun = *(struct begun *)given;
  free(given);
  library_thread_runs = 1;
  return begun.run(begun.argument);
}

void library_thread(void *(*run)(void *), void *argument) {
  struct begun *begun = malloc(sizeof *begun);
  if (begun == NULL) fail("memory");
  *begun = (struct begun){run, argument};
  sigset_t all, before;
  pthread_t id;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  if (pthread_create(&id, NULL, begin, begun) != 0) fail("thread");
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_detach(id);
}
