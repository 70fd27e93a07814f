// What a PTX instruction computes from its sources alone.
#pragma once

#include "ptx_module.hpp"

namespace ptx {

// The contents of a register. A bit of `undefined` says that a byte has no value; a predicate has
// one byte.
struct Value {
  uint64_t bits = 0;
  uint8_t undefined = 0;
};

constexpr uint8_t bytes_of(Type type) {
  return type.bits < 8 ? 1 : static_cast<uint8_t>((1u << (type.bits / 8)) - 1);
}

Value compute(const Instruction& instruction, const Value* in);

}  // namespace ptx
