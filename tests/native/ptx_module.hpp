// The PTX that nvcc emits for the kernels, decoded for ptx_machine.hpp. What it does not know, it
// refuses by name: an opcode, a directive, a register that was not declared.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace ptx {

// What a program did that a device forbids, or that the interpreter does not know.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Op : uint8_t {
  kMov,
  kPack,
  kUnpack,
  kAdd,
  kSub,
  kMulLo,
  kMulHi,
  kMulWide,
  kMadLo,
  kDiv,
  kRem,
  kMin,
  kMax,
  kNeg,
  kNot,
  kAnd,
  kOr,
  kXor,
  kShl,
  kShr,
  kFunnelLeft,
  kFunnelRight,
  kInsert,
  kPermute,
  kPopulation,
  kLeadingZeros,
  kSelect,
  kSetEq,
  kSetNe,
  kSetLt,
  kSetLe,
  kSetGt,
  kSetGe,
  kConvert,
  kLoad,
  kStore,
  kAtomicAdd,
  kAtomicMin,
  kAtomicMax,
  kAtomicCas,
  kBranch,
  kReturn,
  kFence,
  // What threads meet at.
  kBlockBarrier,
  kWarpBarrier,
  kShuffleUp,
  kShuffleDown,
  kShuffleXor,
  kShuffleFrom,
  kBallot,
  kAny,
  kAll,
  kReduceOr,
};

// Generic addresses are global ones: no kernel takes the generic address of another space.
enum class Space : uint8_t { kGlobal, kShared, kLocal, kParameter };

struct Type {
  uint8_t bits = 0;  // 1 for a predicate
  bool is_signed = false;

  uint32_t bytes() const { return bits / 8u; }
  uint64_t mask() const { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }
};

constexpr uint32_t kLiteral = ~uint32_t{0};

struct Operand {
  uint32_t number = kLiteral;  // of a register
  uint64_t value = 0;          // of a literal
};

struct Instruction {
  Op op;
  Type type;
  Type from;  // of a conversion
  Space space = Space::kGlobal;
  bool strong = false;     // volatile, relaxed or atomic
  bool of_system = false;  // a fence
  bool negated = false;
  uint8_t outs = 0;  // 0 of an atomic whose result is not read
  uint8_t ins = 0;
  uint32_t guard = kLiteral;
  uint32_t target = 0;  // of a branch
  uint32_t line = 0;
  Operand out[4];
  Operand in[5];  // of a memory access: the address comes first
  uint64_t offset = 0;
  const std::string* opcode = nullptr;
  uint64_t executed = 0;
};

struct Variable {
  Space space;
  uint64_t offset;
  uint64_t bytes;
};

// Where the shared, local and parameter spaces begin; below is what a null pointer reaches.
constexpr uint64_t kSpaceBegin = 1024;

struct Kernel {
  std::string name;
  std::vector<Variable> parameters;
  std::vector<Instruction> code;
  uint32_t registers = 0;
  uint64_t parameter_bytes = 0;
  uint64_t shared_bytes = 0;
  uint64_t local_bytes = 0;
  uint32_t most_threads = 1024;
  uint64_t launches = 0;

  uint64_t reached() const;

  // Drops the results of atomics that no instruction reads.
  void drop_unread_results();
};

// The first registers of a kernel.
enum SpecialRegister : uint32_t { kTid, kCtaid, kNtid, kNctaid, kSpecialRegisters };

class Module {
 public:
  // Throws a Fault that names the line.
  explicit Module(const std::string& text);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  Kernel& kernel(const std::string& name);
  const std::deque<Kernel>& kernels() const { return kernels_; }
  const std::deque<std::vector<uint64_t>>& constants() const { return constants_; }

  // Prints a table of the kernels: how often they were launched, and how many of their instructions
  // were executed. Returns the share of these.
  double print_coverage() const;

 private:
  friend class Parser;

  std::deque<Kernel> kernels_;
  std::deque<std::vector<uint64_t>> constants_;  // the module's variables in global memory
  std::map<std::string, uint64_t> opcodes_;      // executed by then
};

std::string read_text(const std::string& path);

}  // namespace ptx
