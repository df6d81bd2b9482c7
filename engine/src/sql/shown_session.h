// What the process list shows of a session; written on its thread, read from any.
#pragma once

#include <chrono>
#include <string_view>

#include "observe/mutex.h"
#include "sql/process_list.h"
#include "sql/session_state.h"

namespace commitd::sql {

class ShownSession {
 public:
  explicit ShownSession(const SessionState& session);

  void show_client();  // who it is, and the database in use
  // The text stays the caller's until the next call.
  void show_command(std::string_view command, std::string_view text);
  void show_state(std::string_view state);
  void show_sleep() { show_command("Sleep", {}); }

  ProcessInfo describe() const;

  // Shows a command as long as it lives.
  class Command {
   public:
    Command(ShownSession& shown, std::string_view command, std::string_view text) : shown_(shown) {
      shown_.show_command(command, text);
    }
    ~Command() { shown_.show_sleep(); }
    Command(const Command&) = delete;

   private:
    ShownSession& shown_;
  };

 private:
  const SessionState& session_;
  mutable observe::Mutex mutex_;
  ProcessInfo shown_;  // but for the command and its text
  std::string_view command_ = "Connect", text_;
  Clock::time_point since_ = Clock::now();
};

}  // namespace commitd::sql
