/* What the process is told to be wrong with its machine, and says of that. */
#pragma once

#pragma GCC visibility push(hidden)
/* Does what an HTTP request asks for; any other one is no concern of it. */
void requests_obey(const char *request);
/* What each trouble is and has done, in Prometheus' text format, as snprintf does. */
int requests_tell(char *body, int size);
#pragma GCC visibility pop
