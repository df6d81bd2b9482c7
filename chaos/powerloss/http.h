/* A port at which the process answers. */
#pragma once

#pragma GCC visibility push(hidden)
/* `answer` gets the beginning of each request and writes the body, as snprintf does. */
void http_serve(int port, int (*answer)(const char *request, char *body, int size));
#pragma GCC visibility pop
