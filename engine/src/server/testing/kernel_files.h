// A root with what the kernel would show there.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace commitd::server::testing {

class KernelFiles : public ::testing::Test {
 protected:
  KernelFiles() : root_(fmt::format("{}kernel_files.{}", ::testing::TempDir(), getpid())) {}
  ~KernelFiles() override { std::filesystem::remove_all(root_); }

  void file(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  const std::string root_;
};

}  // namespace commitd::server::testing
