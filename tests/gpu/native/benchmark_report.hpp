// The figures of a benchmark: printed immediately, and kept for a table.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "../../native/check.hpp"

namespace kvasir {

class Report {
 public:
  void figure(const std::string& name, double value, const char* unit) {
    char line[256];
    std::snprintf(line, sizeof line, "%s %.6g %s", name.c_str(), value, unit);
    std::puts(line);
    std::fflush(stdout);
    std::snprintf(line, sizeof line, "| %s | %.6g | %s |", name.c_str(), value, unit);
    rows_.push_back(line);
  }

  // A Markdown table of all figures.
  void write(const char* path, const std::string& title) const {
    std::FILE* file = std::fopen(path, "w");
    CHECK(file != nullptr);
    std::fprintf(file, "%s\n\n| figure | value | unit |\n|---|---:|---|\n", title.c_str());
    for (const std::string& row : rows_) {
      std::fprintf(file, "%s\n", row.c_str());
    }
    CHECK(std::fclose(file) == 0);
  }

 private:
  std::vector<std::string> rows_;
};

inline double median(std::vector<double> values) {
  CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace kvasir
