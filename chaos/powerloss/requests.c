#include "requests.h"

#include <stdio.h>

#include "load.h"
#include "trouble.h"

void requests_obey(const char *request) {
  struct trouble t = {0};
  if (sscanf(request, "POST /spoil?id=%u&errno=%d&percent=%d&syncs=%d&delay_ms=%ld&for_ms=%ld ", &t.id, &t.disk.error, &t.disk.percent, &t.disk.syncs,
             &t.disk.delay_ms, &t.for_ms) == 6)
    trouble_begin(TROUBLE_DISK, &t);
  else if (sscanf(request, "POST /network?id=%u&delay_ms=%ld&loss_percent=%d&for_ms=%ld ", &t.id, &t.network.delay_ms, &t.network.loss_percent,
                  &t.for_ms) == 4)
    trouble_begin(TROUBLE_NETWORK, &t);
  else if (sscanf(request, "POST /clock?id=%u&offset_ms=%ld&for_ms=%ld ", &t.id, &t.clock.offset_ms, &t.for_ms) == 3)
    trouble_begin(TROUBLE_CLOCK, &t);
  else if (sscanf(request, "POST /processors?id=%u&threads=%d&for_ms=%ld ", &t.id, &t.processors.threads, &t.for_ms) == 3) {
    if (trouble_begin(TROUBLE_PROCESSORS, &t)) processors_begin(&t);
  } else if (sscanf(request, "POST /memory?id=%u&bytes=%ld&for_ms=%ld ", &t.id, &t.memory.bytes, &t.for_ms) == 3) {
    if (trouble_begin(TROUBLE_MEMORY, &t)) memory_begin(&t);
  }
}

static const struct {
  const char *id, *count, *help;
} figures[TROUBLES] = {
    [TROUBLE_DISK] = {"powerloss_spoil_id", "powerloss_spoiled_calls", "Calls that the disk has refused or made late."},
    [TROUBLE_NETWORK] = {"powerloss_network_id", "powerloss_network_late_sends", "Pieces of what was sent that were late for their own sake."},
    [TROUBLE_CLOCK] = {"powerloss_clock_id", "powerloss_clock_wrong_answers", "Times that were told and were not right."},
    [TROUBLE_PROCESSORS] = {"powerloss_processors_id", "powerloss_processors_milliseconds", "Time of processors that was used up."},
    [TROUBLE_MEMORY] = {"powerloss_memory_id", "powerloss_memory_bytes", "Memory that was taken."},
};

int requests_tell(char *body, int size) {
  int length = 0;
  for (int kind = 0; kind < TROUBLES && length < size; kind++) {
    uint32_t id;
    const uint64_t count = trouble_count((enum trouble_kind)kind, &id);
    length += snprintf(body + length, (size_t)(size - length), "# HELP %s Which trouble was last asked for.\n# TYPE %s gauge\n%s %u\n# HELP %s %s\n# TYPE %s gauge\n%s %lu\n",
                       figures[kind].id, figures[kind].id, figures[kind].id, id, figures[kind].count, figures[kind].help, figures[kind].count,
                       figures[kind].count, (unsigned long)count);
  }
  return length;
}
