/* A port at which the process answers, by a thread that gets none of its signals. */
#pragma once

#pragma GCC visibility push(hidden)
/* Starts a thread. */
void http_thread(void *(*run)(void *), void *argument);
/* `answer` gets the beginning of each request and writes the body, as snprintf does. */
void http_serve(int port, int (*answer)(const char *request, char *body, int size));
#pragma GCC visibility pop
