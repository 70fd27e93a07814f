// Reads the conformance vectors of tests/vectors: one flat JSON object per line, whose values are
// numbers, strings, or arrays of numbers written as numbers or strings.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "check.hpp"

class VectorCase {
 public:
  explicit VectorCase(std::string line) : line_(std::move(line)) {}

  bool has(const std::string& field) const { return find(field) != std::string::npos; }

  std::string text(const std::string& field) const {
    const size_t begin = line_.find('"', value(field)) + 1;
    return line_.substr(begin, line_.find('"', begin) - begin);
  }

  uint64_t number(const std::string& field) const { return numbers(field, 1)[0]; }

  // Every number from the field's value to the end of the value; the first `most` of them.
  std::vector<uint64_t> numbers(const std::string& field, size_t most = SIZE_MAX) const {
    size_t at = value(field);
    const size_t end = line_[at] == '[' ? line_.find(']', at) : line_.find_first_of(",}", at);
    std::vector<uint64_t> result;
    while ((at = line_.find_first_of("0123456789", at)) < end && result.size() < most) {
      char* after = nullptr;
      result.push_back(std::strtoull(line_.c_str() + at, &after, 10));
      at = static_cast<size_t>(after - line_.c_str());
    }
    return result;
  }

  // The tokens start, start + step, ..., count of them.
  std::vector<uint32_t> tokens() const {
    std::vector<uint32_t> result;
    for (uint64_t i = 0; i < number("count"); ++i) {
      result.push_back(static_cast<uint32_t>(number("start") + i * number("step")));
    }
    return result;
  }

 private:
  size_t find(const std::string& field) const { return line_.find('"' + field + "\": "); }

  size_t value(const std::string& field) const {
    const size_t at = find(field);
    if (at == std::string::npos) std::fprintf(stderr, "no %s: %s\n", field.c_str(), line_.c_str());
    CHECK(at != std::string::npos);
    return at + field.size() + 4;
  }

  std::string line_;
};

// The cases of one rule; there must be at least one.
inline std::vector<VectorCase> read_vectors(const std::string& file, const std::string& rule) {
  std::ifstream stream(std::string(KVASIR_VECTORS_DIR) + "/" + file);
  CHECK(stream.good());
  std::vector<VectorCase> cases;
  for (std::string line; std::getline(stream, line);) {
    if (line[0] == '{' && VectorCase(line).text("rule") == rule) cases.emplace_back(line);
  }
  CHECK(!cases.empty());
  return cases;
}
