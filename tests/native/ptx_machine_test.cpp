// The interpreter of PTX finds what it says it finds, and nothing else. Needs no CUDA compiler.

#include "ptx_machine.hpp"

#include <cstring>

namespace ptx {
namespace {

struct Outcome {
  std::string fault;  // empty if there was none
  int races = 0;
  std::vector<uint64_t> words;
};

// A kernel with a pointer to 1,024 words, of which the first 256 are defined and 0. The pointer is
// in %rd1, the thread's number in %r1, %p1 says whether it is the first.
std::string kernel_of(const std::string& body) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(\n.param .u64 k_param_0\n)\n{\n"
         ".reg .pred %p<9>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n"
         ".shared .align 8 .b8 words[256];\n.local .align 8 .b8 depot[16];\n"
         "ld.param.u64 %rd1, [k_param_0];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
         "setp.eq.s32 %p1, %r1, 0;\nmul.wide.u32 %rd2, %r1, 8;\nadd.s64 %rd3, %rd1, %rd2;\n"
         "shl.b32 %r3, %r1, 2;\nmov.u32 %r4, words;\nadd.s32 %r5, %r4, %r3;\n" +
         body + "ret;\n}\n";
}

Outcome outcome_of(const std::string& body, uint32_t blocks = 1, uint64_t seeds = 20) {
  Outcome outcome;
  for (uint64_t seed = 1; seed <= seeds && outcome.fault.empty(); seed++) {
    g_seed = seed;
    outcome.words.assign(1024, 0);
    try {
      Module module(kernel_of(body));
      Memory memory;
      memory.add(outcome.words.data(), 8192, false);
      const auto begin = reinterpret_cast<uint64_t>(outcome.words.data());
      memory.written_by_host(begin, 2048);
      Machine machine(memory, true);
      machine.seed(seed);
      void* pointer = outcome.words.data();
      void* parameters[] = {&pointer};
      machine.run({make_grid(module.kernel("k"), blocks, parameters)}, 32);
      outcome.races += static_cast<int>(machine.take_races().size());
    } catch (const Fault& fault) {
      outcome.fault = fault.what();
    }
  }
  return outcome;
}

void faults(const char* expected, const std::string& body) {
  const Outcome outcome = outcome_of(body);
  if (outcome.fault.find(expected) == std::string::npos) {
    std::fprintf(stderr, "expected a fault: %s\nbut: %s\nof %s\n", expected, outcome.fault.c_str(),
                 body.c_str());
    CHECK(false);
  }
}

void runs(const std::string& body, bool races = false, uint32_t blocks = 1) {
  const Outcome outcome = outcome_of(body, blocks);
  if (!outcome.fault.empty() || (outcome.races > 0) != races) {
    std::fprintf(stderr, "%d races, %s\nof %s\n", outcome.races, outcome.fault.c_str(),
                 body.c_str());
    CHECK(false);
  }
}

void what_is_unknown_is_refused_by_name() {
  faults("unknown opcode ex2.approx.f32", "ex2.approx.f32 %r6, %r1;\n");
  faults("unknown opcode ld.global.weird.u32", "ld.global.weird.u32 %r6, [%rd1];\n");
  faults("unknown opcode match.any.sync.b32", "match.any.sync.b32 %r6, %r1, -1;\n");
  faults("unknown register %r20", "mov.u32 %r20, 1;\n");
  faults("unknown operand elsewhere", "mov.u32 %r6, elsewhere;\n");
  faults("unknown label $L__BB0_7", "@%p1 bra $L__BB0_7;\n");
  faults("unknown directive .alias", ".alias a, b;\n");
  faults("wrong operands of add.s32", "add.s32 %r6, %r1;\n");
}

void accesses_stay_in_memory_and_are_aligned() {
  runs("st.global.u64 [%rd1+8184], %rd2;\n", true);
  faults("outside of the memory: st.global.u64", "st.global.u64 [%rd1+8192], %rd2;\n");
  faults("outside of the memory: ld.u32", "ld.u32 %r6, [%rd1+-4];\n");
  faults("outside of the memory: ld.global.v2.u64",
         "ld.global.v2.u64 {%rd4, %rd5}, [%rd1+8192];\n");
  faults("outside of the memory", "mov.u64 %rd4, 0;\nld.u64 %rd5, [%rd4];\n");
  faults("not aligned", "ld.global.u64 %rd4, [%rd1+4];\n");
  faults("not aligned", "ld.global.v2.u32 {%r6, %r7}, [%rd1+4];\n");
  faults("outside of the memory: st.shared.u32", "st.shared.u32 [words+256], %r1;\n");
  faults("outside of the memory: st.shared.u32", "mov.u32 %r6, 0;\nst.shared.u32 [%r6], %r1;\n");
  faults("outside of the memory: ld.local.u64", "ld.local.u64 %rd4, [depot+16];\n");
  faults("outside of the memory: ld.param.u64", "ld.param.u64 %rd4, [k_param_0+8];\n");
}

void undefined_bytes_may_be_copied_but_decide_nothing() {
  const std::string copied = "ld.shared.u32 %r6, [%r5];\nst.global.u32 [%rd3+2048], %r6;\n";
  const std::string decides = "setp.eq.s32 %p2, %r6, 0;\n@%p2 bra $L__BB0_1;\n$L__BB0_1:\n";
  runs(copied);
  faults("nothing was written to: bra", copied + decides);
  faults("nothing was written to: bra", copied + "ld.global.u32 %r6, [%rd3+2048];\n" + decides);
  faults("nothing was written to: bra", "ld.global.u32 %r6, [%rd3+2048];\n" + decides);
  runs("ld.global.u32 %r6, [%rd3];\n" + decides);
  faults("nothing was written to: bra", "ld.local.u32 %r6, [depot+4];\n" + decides);
  runs("st.local.u32 [depot+4], %r1;\nld.local.u32 %r6, [depot+4];\n" + decides);
  faults("nothing was written to: bra", "add.s32 %r6, %r7, 1;\n" + decides);
  faults("nothing was written to: ld.shared.u32", "ld.shared.u32 %r6, [%r7];\n");
  faults("nothing was written to: atom.shared.add.u32", "atom.shared.add.u32 %r6, [words], 1;\n");
  faults("nothing was written to: bra", "div.u32 %r6, %r1, 0;\n" + decides);
  // Only some bytes of a word.
  const std::string half = "st.shared.u16 [%r5], %r1;\nld.shared.u32 %r6, [%r5];\n";
  faults("nothing was written to: bra", half + decides);
  runs(half + "and.b32 %r6, %r6, 65535;\n" + decides);
  faults("nothing was written to: bra", half + "shr.u32 %r6, %r6, 16;\n" + decides);
  runs(half + "shl.b32 %r6, %r6, 16;\n" + decides);
  runs(half +
       "cvt.u64.u32 %rd4, %r6;\nbfi.b64 %rd5, %rd2, %rd4, 16, 48;\n"
       "setp.eq.s64 %p3, %rd5, 0;\n@%p3 bra $L__BB0_1;\n$L__BB0_1:\n");
}

void barriers_have_every_thread() {
  runs("bar.sync 0;\n");
  faults("ends while others wait", "@%p1 bra $L__BB0_1;\nbar.sync 0;\n$L__BB0_1:\n");
  faults("different barriers", "@%p1 bra $L__BB0_1;\nbar.sync 0;\nret;\n$L__BB0_1:\nbar.sync 0;\n");
  faults("a barrier other than 0", "bar.sync 1;\n");
}

void lanes_meet_at_one_operation() {
  runs("shfl.sync.idx.b32 %r6, %r1, 0, 31, -1;\nvote.sync.ballot.b32 %r7, %p1, -1;\n");
  faults("different operations",
         "@%p1 bra $L__BB0_1;\nvote.sync.ballot.b32 %r7, %p1, -1;\nret;\n$L__BB0_1:\n"
         "vote.sync.ballot.b32 %r7, %p1, -1;\n");
  faults("its mask does not name", "bar.warp.sync 1;\n");
  faults("of its warp", "@%p1 bra $L__BB0_1;\nredux.sync.or.b32 %r6, %r1, -1;\n$L__BB0_1:\n");
  runs(
      "setp.lt.u32 %p2, %r1, 8;\n@!%p2 bra $L__BB0_1;\n"
      "shfl.sync.bfly.b32 %r6, %r1, 1, 31, 255;\n$L__BB0_1:\n");
  faults("does not take part",
         "setp.lt.u32 %p2, %r1, 8;\n@!%p2 bra $L__BB0_1;\n"
         "shfl.sync.idx.b32 %r6, %r1, 9, 31, 255;\n$L__BB0_1:\n");
  faults("wait for others",
         "$L__BB0_1:\n@%p1 bra $L__BB0_2;\nbar.warp.sync -1;\n$L__BB0_2:\n"
         "bar.sync 0;\n");
}

// Neighbours' words, and a message from one block to the other.
void races_are_found() {
  const std::string give = "st.shared.u32 [%r5], %r1;\n";
  const std::string take =
      "xor.b32 %r6, %r3, 4;\nadd.s32 %r7, %r4, %r6;\nld.shared.u32 %r8, [%r7];\n";
  runs(give + take, true);
  runs(give + "bar.sync 0;\n" + take);
  runs(give + "bar.warp.sync -1;\n" + take);
  runs(give + "shfl.sync.idx.b32 %r9, %r1, 0, 31, -1;\n" + take, true);
  const auto message = [](const char* store, const char* before, const char* after) {
    return std::string("@!%p1 bra $L__BB0_2;\nsetp.eq.s32 %p2, %r2, 0;\n@%p2 bra $L__BB0_1;\n") +
           "ld.volatile.global.u32 %r6, [%rd1];\n" + after +
           "setp.eq.s32 %p3, %r6, 0;\n@%p3 bra $L__BB0_2;\nld.global.u32 %r7, [%rd1+8];\nret;\n"
           "$L__BB0_1:\nst.global.u32 [%rd1+8], 7;\n" +
           before + store + ".global.u32 [%rd1], 1;\n$L__BB0_2:\n";
  };
  runs(message("st.volatile", "membar.gl;\n", "membar.gl;\n"), false, 2);
  runs(message("st.volatile", "fence.acq_rel.gpu;\n", "fence.acq_rel.sys;\n"), false, 2);
  runs(message("st.volatile", "membar.sys;\n", ""), true, 2);
  runs(message("st.volatile", "", "membar.gl;\n"), true, 2);
  runs(message("st", "membar.gl;\n", "membar.gl;\n"), true, 2);
  runs("atom.global.add.u32 %r6, [%rd1], 1;\n", false, 2);
  CHECK(outcome_of("atom.global.add.u32 %r6, [%rd1], 1;\n", 2, 1).words[0] == 64);
}

// A block that sees the second of two strong stores must not rely on the first without two fences.
void order_between_blocks_needs_fences() {
  const auto fails = [](const char* store, const char* between, const char* after) {
    const std::string body =
        std::string("@!%p1 bra $L__BB0_2;\nsetp.eq.s32 %p2, %r2, 0;\n@%p2 bra $L__BB0_1;\n") +
        "ld.volatile.global.u32 %r6, [%rd1];\n" + after +
        "ld.volatile.global.u32 %r7, [%rd1+8];\nsetp.eq.s32 %p3, %r6, %r7;\n" +
        "setp.eq.s32 %p4, %r6, 0;\nor.pred %p5, %p3, %p4;\n@%p5 bra $L__BB0_2;\n" +
        "ld.global.u32 %r8, [%rd1+-8];\n$L__BB0_1:\n" + store + between +
        "st.volatile.global.u32 [%rd1], 1;\n$L__BB0_2:\n";
    return !outcome_of(body, 2, 400).fault.empty();
  };
  const char* store = "st.volatile.global.u32 [%rd1+8], 1;\n";
  const char* unread = "atom.global.add.u32 %r8, [%rd1+8], 1;\n";
  CHECK(!fails(store, "membar.gl;\n", "membar.gl;\n"));
  CHECK(!fails(unread, "membar.gl;\n", "membar.gl;\n"));
  CHECK(fails(store, "", "membar.gl;\n"));
  CHECK(fails(unread, "", "membar.gl;\n"));
  CHECK(fails(store, "membar.gl;\n", ""));
}

// A thread never sees a word go back, and sees its own atomics.
void a_word_has_one_order() {
  const std::string body =
      "@!%p1 bra $L__BB0_2;\nsetp.eq.s32 %p2, %r2, 0;\n@%p2 bra $L__BB0_1;\n"
      "ld.volatile.global.u32 %r6, [%rd1];\nld.volatile.global.u32 %r7, [%rd1];\n"
      "setp.le.u32 %p3, %r6, %r7;\n@%p3 bra $L__BB0_2;\nld.global.u32 %r8, [%rd1+-8];\n"
      "$L__BB0_1:\natom.global.add.u32 %r9, [%rd1], 1;\natom.global.add.u32 %r9, [%rd1], 1;\n"
      "ld.volatile.global.u32 %r10, [%rd1];\nsetp.eq.s32 %p4, %r10, 2;\n@%p4 bra $L__BB0_2;\n"
      "ld.global.u32 %r8, [%rd1+-8];\n$L__BB0_2:\n";
  const Outcome outcome = outcome_of(body, 2, 400);
  CHECK(outcome.fault.empty() && outcome.words[0] == 2);
}

// The host sees the stores of one launch and of the next in any order without a fence of the
// system.
void the_host_sees_stores_late() {
  const auto fails = [](const char* between) {
    const char* first = "@%p1 st.volatile.global.u32 [%rd1], 1;\n";
    const char* second = "@%p1 st.volatile.global.u32 [%rd1+8], 1;\n";
    Module one(kernel_of(first + std::string(between) + second));
    Module former(kernel_of(first));
    Module latter(kernel_of(between + std::string(second)));
    bool failed = false;
    for (uint64_t seed = 1; seed <= 200; seed++) {
      std::vector<uint64_t> words(2);
      void* pointer = words.data();
      void* parameters[] = {&pointer};
      Memory memory;
      memory.add(pointer, 16, true);
      Machine machine(memory, false);
      machine.seed(seed);
      machine.host.add(pointer, 16);
      const auto* seen = static_cast<const uint64_t*>(machine.host.of(pointer));
      machine.host.seen = [&] { failed = failed || (seen[1] == 1 && seen[0] == 0); };
      if (seed % 2 == 0) {
        machine.run({make_grid(one.kernel("k"), 1, parameters)}, 32);
      } else {
        machine.run({make_grid(former.kernel("k"), 1, parameters)}, 32);
        machine.run({make_grid(latter.kernel("k"), 1, parameters)}, 32);
      }
      machine.host.show_all();
      CHECK(seen[0] == 1 && seen[1] == 1);
    }
    return failed;
  };
  CHECK(!fails("fence.acq_rel.sys;\n"));
  CHECK(fails("fence.acq_rel.gpu;\n"));
}

// `text` computes %rd4 or %r6 of %rd10 to %rd12; their low halves are in %r10 to %r12.
uint64_t computed(const std::string& text, uint64_t a, uint64_t b, uint64_t c) {
  std::string body;
  const uint64_t values[] = {a, b, c};
  for (int i = 0; i < 3; i++) {
    const std::string number = std::to_string(10 + i);
    body += "mov.u64 %rd" + number + ", " + std::to_string(values[i]) + ";\n";
    body += "cvt.u32.u64 %r" + number + ", %rd" + number + ";\n";
  }
  const bool wide = text.find("%rd4") != std::string::npos;
  const Outcome outcome = outcome_of(
      body + text + (wide ? "" : "cvt.u64.u32 %rd4, %r6;\n") + "st.global.u64 [%rd3], %rd4;\n", 1,
      1);
  CHECK(outcome.fault.empty() && outcome.races == 0);
  return outcome.words[5];
}

void arithmetic_is_that_of_the_manual() {
  struct Case {
    const char* text;
    uint64_t a, b, c, expected;
  };
  constexpr uint64_t kMinus = ~uint64_t{0};
  const Case cases[] = {
      {"add.s32 %r6, %r10, %r11;\n", 0xffffffff, 2, 0, 1},
      {"sub.s64 %rd4, %rd10, %rd11;\n", 1, 2, 0, kMinus},
      {"mul.lo.s32 %r6, %r10, %r11;\n", 0x10001, 0x10001, 0, 0x20001},
      {"mul.hi.u64 %rd4, %rd10, %rd11;\n", kMinus, kMinus, 0, kMinus - 1},
      {"mul.hi.s64 %rd4, %rd10, %rd11;\n", kMinus, 5, 0, kMinus},
      {"mul.hi.u32 %r6, %r10, %r11;\n", 0x80000000, 6, 0, 3},
      {"mul.wide.s32 %rd4, %r10, %r11;\n", 0xffffffff, 7, 0, kMinus - 6},
      {"mul.wide.u32 %rd4, %r10, %r11;\n", 0xffffffff, 2, 0, 0x1fffffffe},
      {"mad.lo.s32 %r6, %r10, %r11, %r12;\n", 3, 0xffffffff, 10, 7},
      {"div.s32 %r6, %r10, %r11;\n", 0xfffffff9, 2, 0, 0xfffffffd},
      {"div.u32 %r6, %r10, %r11;\n", 0xfffffff9, 2, 0, 0x7ffffffc},
      {"rem.u64 %rd4, %rd10, %rd11;\n", kMinus, 10, 0, 5},
      {"min.u32 %r6, %r10, %r11;\n", 0xffffffff, 1, 0, 1},
      {"max.s64 %rd4, %rd10, %rd11;\n", kMinus, 1, 0, 1},
      {"neg.s32 %r6, %r10;\n", 5, 0, 0, 0xfffffffb},
      {"not.b64 %rd4, %rd10;\n", 5, 0, 0, kMinus - 5},
      {"shl.b32 %r6, %r10, %r11;\n", 0x80000001, 1, 0, 2},
      {"shl.b64 %rd4, %rd10, %r11;\n", 1, 64, 0, 0},
      {"shr.s32 %r6, %r10, %r11;\n", 0x80000000, 40, 0, 0xffffffff},
      {"shr.u64 %rd4, %rd10, %r11;\n", kMinus, 63, 0, 1},
      {"shf.l.wrap.b32 %r6, %r10, %r11, 28;\n", 0x12345678, 0x9abcdef0, 0, 0x01234567},
      {"shf.r.wrap.b32 %r6, %r10, %r11, 40;\n", 0x12345678, 0x9abcdef0, 0, 0xf0123456},
      {"shf.r.wrap.b32 %r6, %r10, %r11, 0;\n", 0x12345678, 0x9abcdef0, 0, 0x12345678},
      {"bfi.b64 %rd4, %rd10, %rd11, 8, 16;\n", 0xaabbcc, kMinus, 0, 0xffffffffffbbccff},
      {"bfi.b32 %r6, %r10, %r11, 28, 16;\n", 5, 0, 0, 0x50000000},
      {"prmt.b32 %r6, %r10, %r11, 291;\n", 0x04030201, 0x08070605, 0, 0x01020304},
      {"prmt.b32 %r6, %r10, %r11, 17417;\n", 0x04038201, 0x08070605, 0, 0x050501ff},
      {"popc.b32 %r6, %r10;\n", 0xf0f0, 0, 0, 8},
      {"clz.b32 %r6, %r10;\n", 1, 0, 0, 31},
      {"clz.b32 %r6, %r10;\n", 0, 0, 0, 32},
      {"cvt.s64.s32 %rd4, %r10;\n", 0xfffffffe, 0, 0, kMinus - 1},
      {"cvt.u64.u32 %rd4, %r10;\n", 0xfffffffe, 0, 0, 0xfffffffe},
      {"mov.b64 %rd4, {%r10, %r11};\n", 1, 2, 0, 0x200000001},
      {"mov.b64 {%r7, %r6}, %rd10;\n", 0x300000001, 0, 0, 3},
      {"setp.lt.s32 %p2, %r10, %r11;\nselp.b32 %r6, 1, 2, %p2;\n", 0xffffffff, 0, 0, 1},
      {"setp.lt.u32 %p2, %r10, %r11;\nselp.b32 %r6, 1, 2, %p2;\n", 0xffffffff, 0, 0, 2},
      {"setp.ge.s64 %p2, %rd10, %rd11;\nselp.b32 %r6, 1, 2, %p2;\n", kMinus, 0, 0, 2},
      {"shfl.sync.up.b32 %r6|%p2, %r1, 2, 0, -1;\n", 0, 0, 0, 3},
      {"shfl.sync.up.b32 %r6|%p2, %r1, 6, 0, -1;\n", 0, 0, 0, 5},
      {"shfl.sync.bfly.b32 %r6|%p2, %r1, 3, 31, -1;\n", 0, 0, 0, 6},
      {"shfl.sync.down.b32 %r6, %r1, 2, 7199, -1;\n", 0, 0, 0, 7},
      {"vote.sync.ballot.b32 %r6, %p1, -1;\n", 0, 0, 0, 1},
      {"redux.sync.or.b32 %r6, %r1, -1;\n", 0, 0, 0, 31},
  };
  for (const Case& one : cases) {
    const uint64_t result = computed(one.text, one.a, one.b, one.c);
    if (result != one.expected) {
      std::fprintf(stderr, "0x%llx, expected 0x%llx of %s", static_cast<unsigned long long>(result),
                   static_cast<unsigned long long>(one.expected), one.text);
      CHECK(false);
    }
  }
}

uint64_t cycles_of(const std::string& body) {
  std::vector<uint64_t> words(1024);
  Module module(kernel_of(body));
  Memory memory;
  memory.add(words.data(), 8192, false);
  memory.written_by_host(reinterpret_cast<uint64_t>(words.data()), 2048);
  Machine machine(memory, false);
  LaunchTime time;
  machine.count_time(&time);
  void* pointer = words.data();
  void* parameters[] = {&pointer};
  machine.run({make_grid(module.kernel("k"), 1, parameters)}, 64);
  return time.cycles();
}

// But for what a few instructions more or less take.
bool about(uint64_t cycles, uint64_t expected) {
  return expected < cycles + latency::kFetch && cycles < expected + latency::kFetch;
}

void times_are_those_of_what_depends_on_each_other() {
  const std::string keep = "st.shared.u64 [words], %rd6;\n";
  const std::string load = "ld.global.u64 %rd4, [%rd3];\n";
  const uint64_t nothing = cycles_of("mov.u64 %rd6, 1;\n" + keep);
  const uint64_t both =
      cycles_of(load + "ld.global.u64 %rd5, [%rd3+1024];\n" + "add.s64 %rd6, %rd4, %rd5;\n" + keep);
  CHECK(about(both, nothing + latency::kL2));
  const uint64_t chain =
      cycles_of(load + "add.s64 %rd5, %rd3, %rd4;\n" + "ld.global.u64 %rd6, [%rd5+1024];\n" + keep);
  CHECK(about(chain, nothing + 2 * latency::kL2));
  const uint64_t near =
      cycles_of(load + "add.s64 %rd5, %rd3, %rd4;\n" + "ld.global.u64 %rd6, [%rd5];\n" + keep);
  CHECK(about(near, nothing + latency::kL2 + latency::kL1));
  // All threads wait for the first, and its store for all.
  const uint64_t barrier = cycles_of("mov.u64 %rd6, 1;\n@%p1 " + load +
                                     "@%p1 add.s64 %rd6, %rd4, 1;\n" + "bar.sync 0;\n" + keep);
  CHECK(about(barrier, nothing + latency::kL2 + latency::kBarrier));
  const uint64_t fence =
      cycles_of("st.global.u64 [%rd3], %rd2;\nfence.acq_rel.gpu;\nmov.u64 %rd6, 1;\n" + keep);
  CHECK(about(fence, nothing + latency::kL2 + latency::kFence));
}

}  // namespace
}  // namespace ptx

int main() {
  ptx::what_is_unknown_is_refused_by_name();
  ptx::accesses_stay_in_memory_and_are_aligned();
  ptx::undefined_bytes_may_be_copied_but_decide_nothing();
  ptx::barriers_have_every_thread();
  ptx::lanes_meet_at_one_operation();
  ptx::races_are_found();
  ptx::order_between_blocks_needs_fences();
  ptx::a_word_has_one_order();
  ptx::the_host_sees_stores_late();
  ptx::arithmetic_is_that_of_the_manual();
  ptx::times_are_those_of_what_depends_on_each_other();
  std::puts("ptx_machine_test: ok");
  return 0;
}
