#include "ptx_module.hpp"

#include <cstdio>
#include <fstream>
#include <sstream>

namespace ptx {

Kernel& Module::kernel(const std::string& name) {
  for (Kernel& kernel : kernels_) {
    if (kernel.name == name) {
      return kernel;
    }
  }
  throw Fault("no kernel " + name + " in the PTX");
}

uint64_t Kernel::reached() const {
  uint64_t reached = 0;
  for (const Instruction& instruction : code) {
    reached += instruction.executed > 0 ? 1 : 0;
  }
  return reached;
}

void Kernel::drop_unread_results() {
  std::vector<bool> read(registers);
  const auto reads = [&read](uint32_t number) {
    if (number != kLiteral) {
      read[number] = true;
    }
  };
  for (const Instruction& each : code) {
    reads(each.guard);
    for (int i = 0; i < each.ins; i++) {
      reads(each.in[i].number);
    }
  }
  for (Instruction& each : code) {
    const bool atomic = each.op >= Op::kAtomicAdd && each.op <= Op::kAtomicMax;
    if (atomic && !read[each.out[0].number]) {
      each.outs = 0;
    }
  }
}

double Module::print_coverage() const {
  std::map<std::string, uint64_t> opcodes = opcodes_;
  uint64_t instructions = 0;
  uint64_t reached = 0;
  uint64_t launches = 0;
  std::puts("| kernel | launches | PTX instructions | reached | % |\n|---|---:|---:|---:|---:|");
  const auto row = [](const char* name, uint64_t launched, uint64_t all, uint64_t some) {
    std::printf("| %s | %llu | %llu | %llu | %.0f |\n", name,
                static_cast<unsigned long long>(launched), static_cast<unsigned long long>(all),
                static_cast<unsigned long long>(some),
                100.0 * static_cast<double>(some) / static_cast<double>(all));
  };
  for (const Kernel& kernel : kernels_) {
    for (const Instruction& instruction : kernel.code) {
      opcodes[*instruction.opcode] += instruction.executed;
    }
    row(kernel.name.c_str(), kernel.launches, kernel.code.size(), kernel.reached());
    instructions += kernel.code.size();
    reached += kernel.reached();
    launches += kernel.launches;
  }
  row("all", launches, instructions, reached);
  std::string missing;
  for (const auto& [opcode, executed] : opcodes) {
    missing += executed == 0 ? " " + opcode : "";
  }
  std::printf("%zu opcodes; not executed:%s\n", opcodes.size(),
              missing.empty() ? " none" : missing.c_str());
  return static_cast<double>(reached) / static_cast<double>(instructions);
}

std::string read_text(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) {
    throw Fault("cannot read " + path);
  }
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace ptx
