/* A network on which what the process sends on TCP connections is late (TROUBLE_NETWORK), in order and never less: by a delay, or because it was
 * lost and is sent again. What the process receives comes in time. */
#pragma once

#pragma GCC visibility push(hidden)
/* Before anything is sent. */
void network_open(void);
#pragma GCC visibility pop
