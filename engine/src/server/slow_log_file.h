// The slow log as a file, in MySQL's format.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "runtime/parker.h"
#include "sql/slow_log.h"
#include "sql/variables/system_variables.h"

namespace commitd::server {

// Sessions leave entries in memory; a thread, which runs from the time the log is first on, brings them to
// the file.
class SlowLogFile : public sql::SlowLog {
 public:
  SlowLogFile(FileSystem& fs, std::string directory) : fs_(fs), directory_(std::move(directory)) {}
  ~SlowLogFile() override;  // what was left with it is in the file then

  // slow_query_log and slow_query_log_file.
  void define(sql::SystemVariables& variables);
  // `heading` is what each opening of the file writes first. Before this nothing is opened, whatever the
  // variables say: the data directory may not be ours yet.
  void start(std::string heading);

  void write(const sql::SlowStatement& statement) override;
  Task<Status> reopen() override;

 private:
  struct Reopening {
    Parker parker;
    Status result;
  };
  std::string path(const std::string& name) const;
  Status switch_on(bool on);
  Status use_file(const std::string& name);
  Status open_file(const std::string& name);  // with file_mutex_ held
  Status append(std::string_view text);       // likewise
  void loop();

  FileSystem& fs_;
  const std::string directory_;
  std::string heading_;
  bool started_ = false;

  std::mutex file_mutex_;  // taken before mutex_ where both are
  std::string name_;
  std::unique_ptr<File> file_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string pending_;
  std::string last_database_;  // a statement's database is named where it is another than the one before
  uint64_t dropped_ = 0;
  std::vector<Reopening*> reopenings_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace commitd::server
