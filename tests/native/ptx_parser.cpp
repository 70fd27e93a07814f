// Reads PTX as nvcc writes it: one statement on a line.
#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "ptx_module.hpp"

namespace ptx {
namespace {

// Opcodes without their type, by the number of their sources.
struct Known {
  Op op;
  uint8_t ins;
};

const std::map<std::string, Known> kKnown = {
    {"mov", {Op::kMov, 1}},
    {"add", {Op::kAdd, 2}},
    {"sub", {Op::kSub, 2}},
    {"mul.lo", {Op::kMulLo, 2}},
    {"mul.hi", {Op::kMulHi, 2}},
    {"mul.wide", {Op::kMulWide, 2}},
    {"mad.lo", {Op::kMadLo, 3}},
    {"div", {Op::kDiv, 2}},
    {"rem", {Op::kRem, 2}},
    {"min", {Op::kMin, 2}},
    {"max", {Op::kMax, 2}},
    {"neg", {Op::kNeg, 1}},
    {"not", {Op::kNot, 1}},
    {"and", {Op::kAnd, 2}},
    {"or", {Op::kOr, 2}},
    {"xor", {Op::kXor, 2}},
    {"shl", {Op::kShl, 2}},
    {"shr", {Op::kShr, 2}},
    {"shf.l.wrap", {Op::kFunnelLeft, 3}},
    {"shf.r.wrap", {Op::kFunnelRight, 3}},
    {"bfi", {Op::kInsert, 4}},
    {"prmt", {Op::kPermute, 3}},
    {"popc", {Op::kPopulation, 1}},
    {"clz", {Op::kLeadingZeros, 1}},
    {"selp", {Op::kSelect, 3}},
    {"setp.eq", {Op::kSetEq, 2}},
    {"setp.ne", {Op::kSetNe, 2}},
    {"setp.lt", {Op::kSetLt, 2}},
    {"setp.le", {Op::kSetLe, 2}},
    {"setp.gt", {Op::kSetGt, 2}},
    {"setp.ge", {Op::kSetGe, 2}},
    {"cvta.to.global", {Op::kMov, 1}},
    {"shfl.sync.up", {Op::kShuffleUp, 4}},
    {"shfl.sync.down", {Op::kShuffleDown, 4}},
    {"shfl.sync.bfly", {Op::kShuffleXor, 4}},
    {"shfl.sync.idx", {Op::kShuffleFrom, 4}},
    {"vote.sync.ballot", {Op::kBallot, 2}},
    {"vote.sync.any", {Op::kAny, 2}},
    {"vote.sync.all", {Op::kAll, 2}},
    {"redux.sync.or", {Op::kReduceOr, 2}},
};

const std::map<std::string, Known> kUntyped = {
    {"bra", {Op::kBranch, 0}},
    {"bra.uni", {Op::kBranch, 0}},
    {"ret", {Op::kReturn, 0}},
    {"fence.acq_rel.gpu", {Op::kFence, 0}},
    {"fence.acq_rel.sys", {Op::kFence, 0}},
    {"membar.gl", {Op::kFence, 0}},
    {"membar.sys", {Op::kFence, 0}},
    {"bar.sync", {Op::kBlockBarrier, 1}},
    {"bar.warp.sync", {Op::kWarpBarrier, 1}},
};

const std::map<std::string, Op> kAtomics = {{"add", Op::kAtomicAdd},
                                            {"min", Op::kAtomicMin},
                                            {"max", Op::kAtomicMax},
                                            {"cas", Op::kAtomicCas}};

const std::map<std::string, SpecialRegister> kSpecial = {
    {"%tid.x", kTid}, {"%ctaid.x", kCtaid}, {"%ntid.x", kNtid}, {"%nctaid.x", kNctaid}};

std::vector<std::string> split(const std::string& text, const char* separators) {
  std::vector<std::string> parts;
  for (size_t at = 0; (at = text.find_first_not_of(separators, at)) != std::string::npos;) {
    const size_t end = text.find_first_of(separators, at);
    parts.push_back(text.substr(at, end == std::string::npos ? end : end - at));
    at = end == std::string::npos ? text.size() : end;
  }
  return parts;
}

bool starts(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

}  // namespace

class Parser {
 public:
  explicit Parser(Module& module) : module_(module) {}

  void parse(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      line_++;
      line = line.substr(0, line.find("//"));
      const size_t begin = line.find_first_not_of(" \t\r");
      if (begin != std::string::npos) {
        statement(line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin));
      }
    }
    require(kernel_ == nullptr, "the end of a kernel is missing");
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Fault("PTX line " + std::to_string(line_) + ": " + what);
  }
  void require(bool holds, const std::string& what) const {
    if (!holds) {
      refuse(what);
    }
  }

  void statement(const std::string& text) {
    if (text == "{") {
      scopes_.emplace_back();
    } else if (text == "}") {
      require(!scopes_.empty(), "an unexpected }");
      scopes_.pop_back();
      if (scopes_.empty()) {
        end_kernel();
      }
    } else if (text == ")") {
      require(kernel_ != nullptr && scopes_.empty(), "an unexpected )");
    } else if (text[0] == '.') {
      directive(text);
    } else if (text.back() == ':') {
      labels_[text.substr(0, text.size() - 1)] = static_cast<uint32_t>(kernel_->code.size());
    } else {
      require(kernel_ != nullptr && !scopes_.empty(), "an instruction outside of a kernel");
      require(text.back() == ';', "a statement on several lines: " + text);
      instruction(text.substr(0, text.size() - 1));
    }
  }

  void directive(const std::string& text) {
    const std::vector<std::string> words = split(text, " \t,;()");
    const std::string& name = words[0];
    if (name == ".visible" && words[1] == ".entry") {
      module_.kernels_.emplace_back();
      kernel_ = &module_.kernels_.back();
      kernel_->name = words[2];
      kernel_->registers = kSpecialRegisters;
      labels_.clear();
      symbols_ = constants_;
      jumps_.clear();
    } else if (name == ".param") {
      declare(words, Space::kParameter, kernel_->parameter_bytes);
    } else if (name == ".shared") {
      declare(words, Space::kShared, kernel_->shared_bytes);
    } else if (name == ".local") {
      declare(words, Space::kLocal, kernel_->local_bytes);
    } else if (name == ".global") {
      constant(text, words);
    } else if (name == ".reg") {
      for (size_t i = 2; i < words.size(); i++) {
        const size_t range = words[i].find('<');
        const std::string prefix = words[i].substr(0, range);
        const bool many = range != std::string::npos;
        const uint32_t count =
            many ? static_cast<uint32_t>(std::atoi(words[i].c_str() + range + 1)) : 1;
        for (uint32_t n = 0; n < count; n++) {
          scopes_.back()[many ? prefix + std::to_string(n) : prefix] = kernel_->registers++;
        }
      }
    } else if (name == ".maxntid") {
      kernel_->most_threads = static_cast<uint32_t>(std::atoi(words[1].c_str()));
    } else {
      require(name == ".version" || name == ".target" || name == ".address_size" ||
                  name == ".minnctapersm" || name == ".pragma",
              "unknown directive " + name);
    }
  }

  Type type_of(const std::string& word) const {
    static const std::map<std::string, Type> types = {
        {"pred", {1, false}}, {"u8", {8, false}},   {"b8", {8, false}},   {"s8", {8, true}},
        {"u16", {16, false}}, {"b16", {16, false}}, {"s16", {16, true}},  {"u32", {32, false}},
        {"b32", {32, false}}, {"s32", {32, true}},  {"u64", {64, false}}, {"b64", {64, false}},
        {"s64", {64, true}}};
    const auto found = types.find(word);
    require(found != types.end(), "unknown type " + word);
    return found->second;
  }

  // .space [.align N] .type name[bytes]
  void declare(const std::vector<std::string>& words, Space space, uint64_t& used) {
    const bool aligned = words[1] == ".align";
    const Type type = type_of(words[aligned ? 3 : 1].substr(1));
    const std::string& name = words[aligned ? 4 : 2];
    const size_t bracket = name.find('[');
    const uint64_t count =
        bracket == std::string::npos ? 1 : std::strtoull(name.c_str() + bracket + 1, nullptr, 10);
    const uint64_t alignment =
        aligned ? std::strtoull(words[2].c_str(), nullptr, 10) : type.bytes();
    used = (used + alignment - 1) / alignment * alignment;
    if (space == Space::kParameter) {
      kernel_->parameters.push_back({space, used, count * type.bytes()});
    }
    symbols_[name.substr(0, bracket)] = kSpaceBegin + used;
    used += count * type.bytes();
  }

  // .global .align 8 .b8 name[bytes] = {...};
  void constant(const std::string& text, const std::vector<std::string>& words) {
    require(words[1] == ".align" && words[3] == ".b8", "unknown variable " + text);
    const size_t open = text.find('{');
    require(open != std::string::npos, "a variable without values");
    const std::vector<std::string> values = split(text.substr(open + 1), " ,{};");
    module_.constants_.emplace_back((values.size() + 7) / 8);
    auto* bytes = reinterpret_cast<uint8_t*>(module_.constants_.back().data());
    for (size_t i = 0; i < values.size(); i++) {
      bytes[i] = static_cast<uint8_t>(std::atoi(values[i].c_str()));
    }
    constants_[words[4].substr(0, words[4].find('['))] = reinterpret_cast<uint64_t>(bytes);
  }

  void instruction(std::string text) {
    Instruction made{};
    made.line = line_;
    if (text[0] == '@') {
      made.negated = text[1] == '!';
      const size_t end = text.find_first_of(" \t");
      made.guard = register_of(text.substr(made.negated ? 2 : 1, end - (made.negated ? 2 : 1)));
      text = text.substr(text.find_first_not_of(" \t", end));
    }
    const size_t end = text.find_first_of(" \t");
    const std::string opcode = text.substr(0, end);
    const std::string rest = end == std::string::npos ? "" : text.substr(end);
    made.opcode = &module_.opcodes_.emplace(opcode, 0).first->first;
    decode(made, opcode, split(rest, " \t,{}|"), rest);
    kernel_->code.push_back(made);
  }

  void decode(Instruction& made, const std::string& opcode, const std::vector<std::string>& words,
              const std::string& rest) {
    const auto untyped = kUntyped.find(opcode);
    if (untyped != kUntyped.end()) {
      made.op = untyped->second.op;
      made.of_system = opcode.find(".sys") != std::string::npos;
      require(words.size() == (made.op == Op::kBranch ? 1 : untyped->second.ins),
              "wrong operands of " + opcode);
      if (made.op == Op::kBranch) {
        jumps_.emplace_back(kernel_->code.size(), words[0]);
      } else if (made.op != Op::kReturn && made.op != Op::kFence) {
        sources(made, words, 0);
      }
      return;
    }
    const std::vector<std::string> parts = split(opcode, ".");
    if (parts[0] == "ld" || parts[0] == "st" || parts[0] == "atom") {
      access(made, parts, words);
      return;
    }
    if (parts[0] == "cvt") {
      require(parts.size() == 3, "unknown opcode " + opcode);
      made.op = Op::kConvert;
      made.type = type_of(parts[1]);
      made.from = type_of(parts[2]);
      outputs(made, words, 1);
      sources(made, words, 1);
      require(made.ins == 1, "wrong operands of " + opcode);
      return;
    }
    const auto known = kKnown.find(opcode.substr(0, opcode.rfind('.')));
    require(known != kKnown.end(), "unknown opcode " + opcode);
    made.op = known->second.op;
    made.type = type_of(parts.back());
    size_t results = 1;
    size_t given = known->second.ins;
    if (made.op == Op::kMov && words.size() == 3) {  // a pair of halves
      made.op = rest.find('{') < rest.find(',') ? Op::kUnpack : Op::kPack;
      results = made.op == Op::kUnpack ? 2 : 1;
      given = 3 - results;
    } else if (rest.find('|') != std::string::npos) {  // with a predicate
      require(starts(opcode, "shfl"), "unknown form of " + opcode);
      results = 2;
    }
    require(words.size() == results + given, "wrong operands of " + opcode);
    outputs(made, words, results);
    sources(made, words, results);
  }

  // ld, st, atom: modifiers in any order, the type last.
  void access(Instruction& made, const std::vector<std::string>& parts,
              const std::vector<std::string>& words) {
    const bool stores = parts[0] == "st";
    made.op = stores ? Op::kStore : Op::kLoad;
    size_t values = 1;
    bool atomic = false;
    for (size_t i = 1; i + 1 < parts.size(); i++) {
      const std::string& part = parts[i];
      const auto change = kAtomics.find(part);
      if (part == "volatile" || part == "relaxed" || part == "gpu") {
        made.strong = true;
      } else if (part == "shared") {
        made.space = Space::kShared;
      } else if (part == "local") {
        made.space = Space::kLocal;
      } else if (part == "param") {
        made.space = Space::kParameter;
      } else if (part == "v2" || part == "v4") {
        values = static_cast<size_t>(part[1] - '0');
      } else if (parts[0] == "atom" && change != kAtomics.end()) {
        made.op = change->second;
        made.strong = atomic = true;
      } else {
        require(part == "global" || part == "nc", "unknown opcode " + *made.opcode);
      }
    }
    require(atomic == (parts[0] == "atom"), "unknown opcode " + *made.opcode);
    made.type = type_of(parts.back());
    const size_t results = stores ? 0 : values;
    const size_t given = stores ? values : !atomic ? 0 : made.op == Op::kAtomicCas ? 2 : 1;
    require(words.size() == results + 1 + given, "wrong operands of " + *made.opcode);
    outputs(made, words, results);
    address(made, words[results]);
    sources(made, words, results + 1);
  }

  void address(Instruction& made, const std::string& word) {
    require(word[0] == '[' && word.back() == ']', "no address: " + word);
    const size_t end = std::min(word.find('+'), word.size() - 1);
    made.offset = static_cast<uint64_t>(std::strtoll(word.c_str() + end + 1, nullptr, 10));
    made.in[made.ins++] = operand(word.substr(1, end - 1));
  }

  void outputs(Instruction& made, const std::vector<std::string>& words, size_t count) {
    for (size_t i = 0; i < count; i++) {
      made.out[made.outs++].number = register_of(words[i]);
    }
  }
  void sources(Instruction& made, const std::vector<std::string>& words, size_t from) {
    for (size_t i = from; i < words.size(); i++) {
      made.in[made.ins++] = operand(words[i]);
    }
  }

  uint32_t register_of(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found = scope->find(name);
      if (found != scope->end()) {
        return found->second;
      }
    }
    const auto special = kSpecial.find(name);
    require(special != kSpecial.end(), "unknown register " + name);
    return special->second;
  }

  Operand operand(const std::string& word) const {
    if (word[0] == '%') {
      return {register_of(word), 0};
    }
    const auto symbol = symbols_.find(word);
    if (symbol != symbols_.end()) {
      return {kLiteral, symbol->second};
    }
    char* end = nullptr;
    const uint64_t value = word[0] == '-'
                               ? static_cast<uint64_t>(std::strtoll(word.c_str(), &end, 0))
                               : std::strtoull(word.c_str(), &end, 0);
    require(*end == 0, "unknown operand " + word);
    return {kLiteral, value};
  }

  void end_kernel() {
    for (const auto& [from, label] : jumps_) {
      const auto found = labels_.find(label);
      require(found != labels_.end(), "unknown label " + label);
      kernel_->code[from].target = found->second;
    }
    require(!kernel_->code.empty(), "an empty kernel");
    kernel_->drop_unread_results();
    const Op last = kernel_->code.back().op;
    require(last == Op::kReturn || last == Op::kBranch, "a kernel without an end");
    kernel_ = nullptr;
  }

  Module& module_;
  Kernel* kernel_ = nullptr;
  uint32_t line_ = 0;
  std::vector<std::map<std::string, uint32_t>> scopes_;  // registers, by braces
  std::map<std::string, uint32_t> labels_;
  std::map<std::string, uint64_t> constants_;
  std::map<std::string, uint64_t> symbols_;
  std::vector<std::pair<size_t, std::string>> jumps_;
};

Module::Module(const std::string& text) { Parser(*this).parse(text); }

}  // namespace ptx
