#pragma once

namespace commitd::server {

// Makes every counter of engine/CONTROL.md exist from the start: a rate needs a zero to begin with, and a
// dashboard would take a counter that is not there yet for a server that is not scraped.
void register_counters();

}  // namespace commitd::server
