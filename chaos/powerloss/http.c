#define _GNU_SOURCE
#include "http.h"

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "fail.h"
#include "thread.h"

static int (*answer_with)(const char *request, char *body, int size);

static void answer(int fd) {
  static const char head[] = "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nConnection: close\r\n\r\n";
  const struct timeval patience = {1, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  char request[2048], body[8192];
  const ssize_t had = recv(fd, request, sizeof request - 1, 0);
  if (had <= 0) return;
  request[had] = 0;
  const int length = answer_with(request, body, sizeof body);
  if (send(fd, head, sizeof head - 1, MSG_NOSIGNAL | MSG_MORE) < 0 || send(fd, body, (size_t)length, MSG_NOSIGNAL) < 0) return;
  shutdown(fd, SHUT_WR);
}

static void *serve(void *listener) {
  for (;;) {
    const int fd = accept4((int)(intptr_t)listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) {
      usleep(10000);
      continue;
    }
    answer(fd);
    close(fd);
  }
  return NULL;
}

void http_serve(int port, int (*with)(const char *request, char *body, int size)) {
  const struct sockaddr_in where = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_ANY)}};
  const int yes = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 || bind(fd, (const struct sockaddr *)&where, sizeof where) != 0 ||
      listen(fd, 16) != 0)
    fail("the port");
  answer_with = with;
  library_thread(serve, (void *)(intptr_t)fd);
}
