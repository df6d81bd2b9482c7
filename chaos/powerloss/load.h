/* A process that takes of the machine what others need. It ends with the trouble, or with the process: the next one does not go on with it. */
#pragma once
#include "trouble.h"

#pragma GCC visibility push(hidden)
/* TROUBLE_PROCESSORS: threads that do nothing, as fast as they can. Counted are the milliseconds that they have had. */
void processors_begin(const struct trouble *trouble);
/* TROUBLE_MEMORY: counted are the bytes that are held, page by page. Whoever takes too much may be killed for it. */
void memory_begin(const struct trouble *trouble);
#pragma GCC visibility pop
