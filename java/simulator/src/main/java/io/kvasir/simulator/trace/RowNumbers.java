package io.kvasir.simulator.trace;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/**
 * Reads the integers of a JSON row. Tables that pass through floating point spell 12 as 12.0, and
 * hashes exceed 63 bits. Stateless.
 */
final class RowNumbers {

  /** Above it, neighbouring integers are the same floating-point number. */
  private static final double MAX_EXACT = 1L << 53;

  private static final long MULTIPLIER = 0x9e3779b97f4a7c15L;

  private RowNumbers() {}

  /**
   * Reads an integer of 64 bits.
   *
   * @param json at the value
   * @param value the value's token
   * @return the integer; null if the value is something else, such as 1.5 or NaN
   * @throws IOException if the JSON is not valid
   */
  static @Nullable Long integer(JsonParser json, @Nullable JsonToken value) throws IOException {
    if (value == JsonToken.VALUE_NUMBER_INT) {
      return json.getNumberType() == JsonParser.NumberType.BIG_INTEGER ? null : json.getLongValue();
    }
    if (value != JsonToken.VALUE_NUMBER_FLOAT) {
      return null;
    }
    double number = json.getDoubleValue();
    return number == Math.rint(number) && Math.abs(number) <= MAX_EXACT ? (long) number : null;
  }

  /**
   * Reads an id, which is an integer of any size. Of 64 bits, all are kept, so that 2^64 - 1 and -1
   * are the same id; longer integers are digested.
   *
   * @param json at the value
   * @param value the value's token
   * @return the id; null if the value is no integer
   * @throws IOException if the JSON is not valid
   */
  static @Nullable Long id(JsonParser json, @Nullable JsonToken value) throws IOException {
    if (value != JsonToken.VALUE_NUMBER_INT
        || json.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
      return integer(json, value);
    }
    BigInteger number = json.getBigIntegerValue();
    return number.bitLength() <= Long.SIZE ? number.longValue() : digest(number);
  }

  private static long digest(BigInteger number) {
    long digest = number.signum();
    for (byte part : number.toByteArray()) {
      digest = (digest ^ part) * MULTIPLIER;
      digest ^= digest >>> 32;
    }
    return digest;
  }
}
