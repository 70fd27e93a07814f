#include "ptx_arithmetic.hpp"

#include <algorithm>

namespace ptx {
namespace {

int64_t as_signed(uint64_t bits, Type type) {
  const uint32_t free = 64u - type.bits;
  return static_cast<int64_t>(bits << free) >> free;
}

// Bytes of an undefined result that are known nevertheless are those that a known 0 of an `and`, or
// known ones of an `or`, decide.
uint8_t undecided(Value a, Value b, uint64_t deciding) {
  uint8_t undefined = a.undefined | b.undefined;
  for (uint32_t byte = 0; byte < 8; byte++) {
    const bool a_decides =
        (a.undefined >> byte & 1) == 0 && (a.bits >> 8 * byte & 0xff) == deciding;
    const bool b_decides =
        (b.undefined >> byte & 1) == 0 && (b.bits >> 8 * byte & 0xff) == deciding;
    if (a_decides || b_decides) {
      undefined = static_cast<uint8_t>(undefined & ~(1u << byte));
    }
  }
  return undefined;
}

Value funnel(const Instruction& self, Value low, Value high, uint32_t amount) {
  const uint64_t joined = high.bits << 32 | low.bits;
  amount &= 31;
  return {self.op == Op::kFunnelLeft ? joined << amount >> 32 : joined >> amount & 0xffffffff, 0};
}

Value shifted(const Instruction& self, Value a, uint64_t amount) {
  const uint32_t bits = self.type.bits;
  const auto whole = static_cast<uint32_t>(std::min<uint64_t>(amount, bits));
  const bool left = self.op == Op::kShl;
  Value result;
  if (left) {
    result.bits = whole == bits ? 0 : a.bits << whole;
  } else if (self.type.is_signed) {
    const int64_t from = as_signed(a.bits, self.type);
    result.bits = static_cast<uint64_t>(from >> std::min(whole, bits - 1));
  } else {
    result.bits = whole == bits ? 0 : a.bits >> whole;
  }
  if (a.undefined != 0) {
    const uint32_t bytes = whole / 8;
    const uint32_t moved = left ? a.undefined << bytes : a.undefined >> bytes;
    const uint32_t straddled = left ? moved << 1 : moved >> 1;
    result.undefined = static_cast<uint8_t>(whole % 8 == 0 ? moved : moved | straddled);
    if (self.type.is_signed) {
      result.undefined = bytes_of(self.type);
    }
  }
  return result;
}

Value inserted(Value from, Value into, uint64_t position, uint64_t length, Type type) {
  const uint64_t at = position & 255;
  const uint64_t count = std::min<uint64_t>(length & 255, at < type.bits ? type.bits - at : 0);
  if (count == 0) {
    return into;
  }
  const uint64_t field = (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << at;
  Value result{(into.bits & ~field) | (from.bits << at & field), 0};
  uint32_t undefined = 0;
  for (uint32_t byte = 0; byte < 8; byte++) {
    const uint64_t part = field >> 8 * byte & 0xff;
    undefined |= part != 0xff ? into.undefined & 1u << byte : 0;
    // A field that begins inside of a byte takes from two.
    if (part != 0 && from.undefined != 0) {
      const bool whole = at % 8 == 0;
      undefined |= !whole || (from.undefined << at / 8 & 1u << byte) != 0 ? 1u << byte : 0;
    }
  }
  result.undefined = static_cast<uint8_t>(undefined);
  return result;
}

Value permuted(Value a, Value b, uint64_t selector) {
  const uint64_t joined = b.bits << 32 | a.bits;
  const uint32_t undefined = static_cast<uint32_t>(b.undefined << 4 | a.undefined);
  Value result;
  for (uint32_t i = 0; i < 4; i++) {
    const uint32_t choice = selector >> 4 * i & 15;
    uint64_t byte = joined >> 8 * (choice & 7) & 0xff;
    byte = (choice & 8) == 0 ? byte : (byte & 0x80) != 0 ? 0xff : 0;
    result.bits |= byte << 8 * i;
    result.undefined |= static_cast<uint8_t>((undefined >> (choice & 7) & 1) << i);
  }
  return result;
}

uint64_t high_product(uint64_t a, uint64_t b, Type type) {
  if (type.bits <= 32) {
    return type.is_signed
               ? static_cast<uint64_t>(as_signed(a, type) * as_signed(b, type)) >> type.bits
               : a * b >> type.bits;
  }
  if (type.is_signed) {
    return static_cast<uint64_t>(
        static_cast<__int128>(static_cast<int64_t>(a)) * static_cast<int64_t>(b) >> 64);
  }
  return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
}

// The quotient or remainder; the divisor is not 0.
uint64_t divided(const Instruction& self, uint64_t a, uint64_t b) {
  const bool quotient = self.op == Op::kDiv;
  if (!self.type.is_signed) {
    return quotient ? a / b : a % b;
  }
  const int64_t x = as_signed(a, self.type);
  const int64_t y = as_signed(b, self.type);
  if (y == -1) {
    return quotient ? 0 - static_cast<uint64_t>(x) : 0;
  }
  return static_cast<uint64_t>(quotient ? x / y : x % y);
}

bool less(uint64_t a, uint64_t b, Type type) {
  return type.is_signed ? as_signed(a, type) < as_signed(b, type) : a < b;
}

uint64_t plain(const Instruction& self, uint64_t a, uint64_t b, uint64_t c) {
  const Type type = self.type;
  switch (self.op) {
    case Op::kAdd:
      return a + b;
    case Op::kSub:
      return a - b;
    case Op::kMulLo:
      return a * b;
    case Op::kMulHi:
      return high_product(a, b, type);
    case Op::kMulWide:
      return type.is_signed ? static_cast<uint64_t>(as_signed(a, type) * as_signed(b, type))
                            : a * b;
    case Op::kMadLo:
      return a * b + c;
    case Op::kDiv:
    case Op::kRem:
      return divided(self, a, b);
    case Op::kMin:
      return less(b, a, type) ? b : a;
    case Op::kMax:
      return less(a, b, type) ? b : a;
    case Op::kNeg:
      return 0 - a;
    case Op::kPopulation:
      return static_cast<uint64_t>(__builtin_popcountll(a));
    case Op::kLeadingZeros:
      return a == 0 ? type.bits : static_cast<uint64_t>(__builtin_clzll(a)) - (64u - type.bits);
    case Op::kSetEq:
      return a == b ? 1 : 0;
    case Op::kSetNe:
      return a != b ? 1 : 0;
    case Op::kSetLt:
      return less(a, b, type) ? 1 : 0;
    case Op::kSetLe:
      return less(b, a, type) ? 0 : 1;
    case Op::kSetGt:
      return less(b, a, type) ? 1 : 0;
    case Op::kSetGe:
      return less(a, b, type) ? 0 : 1;
    default:
      throw Fault("not an arithmetic opcode");
  }
}

Type result_type(const Instruction& self) {
  switch (self.op) {
    case Op::kSetEq:
    case Op::kSetNe:
    case Op::kSetLt:
    case Op::kSetLe:
    case Op::kSetGt:
    case Op::kSetGe:
      return {1, false};
    case Op::kMulWide:
      return {static_cast<uint8_t>(2 * self.type.bits), false};
    case Op::kPopulation:
    case Op::kLeadingZeros:
      return {32, false};
    default:
      return self.type;
  }
}

}  // namespace

Value compute(const Instruction& self, const Value* in) {
  const Type type = self.type;
  const uint8_t every = bytes_of(type);
  Value given[3];
  const int typed = std::min<int>(self.ins, 3);
  for (int i = 0; i < typed; i++) {
    given[i] = {in[i].bits & type.mask(), static_cast<uint8_t>(in[i].undefined & every)};
  }
  Value result;
  switch (self.op) {
    case Op::kMov:
      result = given[0];
      break;
    case Op::kPack: {  // two halves
      const uint32_t half = type.bits / 2u;
      const uint64_t mask = (uint64_t{1} << half) - 1;
      const uint32_t bytes = (1u << half / 8) - 1;
      result = {
          (in[1].bits & mask) << half | (in[0].bits & mask),
          static_cast<uint8_t>((in[1].undefined & bytes) << half / 8 | (in[0].undefined & bytes))};
      break;
    }
    case Op::kNot:
      result = {~given[0].bits, given[0].undefined};
      break;
    case Op::kAnd:
      result = {given[0].bits & given[1].bits, undecided(given[0], given[1], 0)};
      break;
    case Op::kOr:
      result = {given[0].bits | given[1].bits,
                undecided(given[0], given[1], type.bits == 1 ? 1 : 0xff)};
      break;
    case Op::kXor:
      result = {given[0].bits ^ given[1].bits,
                static_cast<uint8_t>(given[0].undefined | given[1].undefined)};
      break;
    case Op::kShl:
    case Op::kShr:
      result = shifted(self, given[0], in[1].bits & 0xffffffff);
      result.undefined = (in[1].undefined & 15) != 0 ? every : result.undefined;
      break;
    case Op::kFunnelLeft:
    case Op::kFunnelRight:
      result = funnel(self, given[0], given[1], static_cast<uint32_t>(in[2].bits));
      result.undefined =
          (given[0].undefined | given[1].undefined | given[2].undefined) != 0 ? every : 0;
      break;
    case Op::kInsert:
      result = inserted(given[0], given[1], in[2].bits, in[3].bits, type);
      result.undefined = ((in[2].undefined | in[3].undefined) & 15) != 0 ? every : result.undefined;
      break;
    case Op::kPermute:
      result = permuted(given[0], given[1], given[2].bits);
      result.undefined = given[2].undefined != 0 ? every : result.undefined;
      break;
    case Op::kSelect:
      result = (in[2].bits & 1) != 0 ? given[0] : given[1];
      result.undefined = (in[2].undefined & 1) != 0 ? every : result.undefined;
      break;
    case Op::kConvert: {
      const uint64_t bits = in[0].bits & self.from.mask();
      result.bits = self.from.is_signed ? static_cast<uint64_t>(as_signed(bits, self.from)) : bits;
      result.undefined = in[0].undefined & bytes_of(self.from);
      if (self.from.is_signed && result.undefined != 0) {
        result.undefined = every;
      }
      break;
    }
    default: {
      const Type to = result_type(self);
      const bool divides = self.op == Op::kDiv || self.op == Op::kRem;
      uint8_t undefined = given[0].undefined | given[1].undefined | given[2].undefined;
      if (divides && given[1].bits == 0) {  // any value
        return {0, bytes_of(to)};
      }
      result = {plain(self, given[0].bits, given[1].bits, given[2].bits),
                undefined != 0 ? bytes_of(to) : uint8_t{0}};
      return {result.bits & to.mask(), result.undefined};
    }
  }
  return {result.bits & type.mask(), static_cast<uint8_t>(result.undefined & every)};
}

}  // namespace ptx
