/* nsexec [-l] [-m|-n|-i|-p PATH]... -- COMMAND [ARG...]
 *
 * Runs a command in other processes' namespaces, as Chaos Mesh's daemon asks
 * for. It stands in for chaos-mesh/nsexec, which is published as a binary only.
 * With -l the command is looked up and run in the caller's own file system, so
 * that the daemon's tools need not exist in the container under test. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_NAMESPACES = 4, EXIT_SETUP = 125, EXIT_NO_COMMAND = 127 };

struct namespace {
  int type;
  int fd;
};

static pid_t child;

static void forward(int signal) { kill(child, signal); }

static int type_of(const char *option) {
  if (!strcmp(option, "-m")) return CLONE_NEWNS;
  if (!strcmp(option, "-n")) return CLONE_NEWNET;
  if (!strcmp(option, "-i")) return CLONE_NEWIPC;
  if (!strcmp(option, "-p")) return CLONE_NEWPID;
  return 0;
}

/* A process keeps its PID namespace for life; only its children are in the new
 * one. The parent stays, passes signals on and reports how the child ended. */
static void enter_pid_namespace(void) {
  child = fork();
  if (child < 0) {
    perror("nsexec: fork");
    _exit(EXIT_SETUP);
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    return;
  }
  signal(SIGTERM, forward);
  signal(SIGINT, forward);
  signal(SIGCONT, forward);
  int status;
  while (waitpid(child, &status, 0) < 0) {
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

int main(int argc, char **argv) {
  struct namespace spaces[MAX_NAMESPACES];
  int count = 0, local = 0, fork_needed = 0, i = 1;
  for (; i < argc && strcmp(argv[i], "--"); i++) {
    if (!strcmp(argv[i], "-l")) {
      local = 1;
      continue;
    }
    int type = type_of(argv[i]);
    if (!type || i + 1 >= argc || count == MAX_NAMESPACES) {
      fprintf(stderr, "nsexec: bad option %s\n", argv[i]);
      return EXIT_SETUP;
    }
    /* Opened before any is entered: the paths are the caller's. */
    int fd = open(argv[++i], O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
      perror(argv[i]);
      return EXIT_SETUP;
    }
    fork_needed |= type == CLONE_NEWPID;
    spaces[count++] = (struct namespace){type, fd};
  }
  if (i + 1 >= argc) {
    fprintf(stderr, "nsexec: no command\n");
    return EXIT_SETUP;
  }
  for (int k = 0; k < count; k++) {
    if (local && spaces[k].type == CLONE_NEWNS) continue;
    if (setns(spaces[k].fd, spaces[k].type)) {
      perror("nsexec: setns");
      return EXIT_SETUP;
    }
  }
  if (fork_needed) enter_pid_namespace();
  execvp(argv[i + 1], argv + i + 1);
  perror(argv[i + 1]);
  return EXIT_NO_COMMAND;
}
