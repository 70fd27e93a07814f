package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.Markup;
import io.kvasir.tokens.template.python.Missing;
import io.kvasir.tokens.template.python.None;
import io.kvasir.tokens.template.python.NumberText;
import io.kvasir.tokens.template.python.Operators;
import io.kvasir.tokens.template.python.PythonNumbers;
import io.kvasir.tokens.template.python.PythonValues;
import io.kvasir.tokens.template.python.TemplateFault;
import io.kvasir.tokens.template.python.Undefined;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Map;

/** Filters that make numbers. Stateless. */
final class NumberFilters {

  private NumberFilters() {}

  static void addTo(Map<String, Filters.Filter> all) {
    all.put("int", Filters.bound("int", "default? base?", NumberFilters::integer));
    all.put("float", Filters.bound("float", "default?", NumberFilters::real));
    all.put("abs", Filters.bound("abs", "", (budget, value, none) -> absolute(value)));
    all.put("round", Filters.bound("round", "precision? method?", NumberFilters::round));
  }

  private static Object integer(Budget budget, Object value, Object[] arguments) {
    Object base = Arguments.or(arguments[1], 10L);
    if (value instanceof Undefined undefined) {
      throw undefined.used();
    }
    if (value instanceof String text) {
      budget.work(text.length());
      boolean known = base instanceof Long || base instanceof Boolean;
      Object parsed =
          known ? NumberText.integer(text, PythonNumbers.toLong(base)) : Missing.MISSING;
      if (parsed == Missing.MISSING) {
        Object number = NumberText.real(text);
        parsed =
            number instanceof Double real && !Double.isNaN(real) && !Double.isInfinite(real)
                ? PythonNumbers.truncated(real)
                : Missing.MISSING;
      }
      return parsed == Missing.MISSING ? Arguments.or(arguments[0], 0L) : parsed;
    }
    if (value instanceof Double real) {
      if (Double.isInfinite(real)) {
        throw TemplateFault.error("cannot convert float infinity to integer");
      }
      return Double.isNaN(real) ? Arguments.or(arguments[0], 0L) : PythonNumbers.truncated(real);
    }
    if (PythonNumbers.isInteger(value)) {
      return PythonNumbers.integer(PythonNumbers.big(value));
    }
    refuseMarkup(value);
    return Arguments.or(arguments[0], 0L);
  }

  private static void refuseMarkup(Object value) {
    if (value instanceof Markup) {
      throw TemplateFault.unsupported("filters of text that is marked as safe");
    }
  }

  private static Object real(Budget budget, Object value, Object[] arguments) {
    if (value instanceof Undefined undefined) {
      throw undefined.used();
    }
    refuseMarkup(value);
    if (PythonNumbers.isNumber(value)) {
      return PythonNumbers.toDouble(value);
    }
    Object parsed = Missing.MISSING;
    if (value instanceof String text) {
      budget.work(text.length());
      parsed = NumberText.real(text);
    }
    return parsed == Missing.MISSING ? Arguments.or(arguments[0], 0.0) : parsed;
  }

  private static Object absolute(Object value) {
    if (value instanceof Double real) {
      return Math.abs(real);
    }
    if (!PythonNumbers.isInteger(value)) {
      throw TemplateFault.error(
          "bad operand type for abs(): '" + PythonValues.typeName(value) + "'");
    }
    return PythonNumbers.integer(PythonNumbers.big(value).abs());
  }

  private static Object round(Budget budget, Object value, Object[] arguments) {
    Object method = Arguments.or(arguments[1], "common");
    Object precision = Arguments.or(arguments[0], 0L);
    if (!method.equals("common") && !method.equals("ceil") && !method.equals("floor")) {
      throw TemplateFault.error("method must be common, ceil or floor");
    }
    if (value instanceof Undefined undefined) {
      throw undefined.used();
    }
    if (!method.equals("common")) {
      return rounded(budget, value, precision, method.equals("ceil"));
    }
    if (!PythonNumbers.isNumber(value)) {
      throw TemplateFault.error("round() of a " + PythonValues.typeName(value));
    }
    if (precision == None.NONE) {
      return value instanceof Double real
          ? PythonNumbers.truncated(Math.rint(real))
          : PythonNumbers.integer(PythonNumbers.big(value));
    }
    long digits = PythonNumbers.bounded(precision, "round");
    if (value instanceof Double real) {
      return roundedReal(real, digits);
    }
    BigInteger integer = PythonNumbers.big(value);
    if (digits >= 0) {
      return PythonNumbers.integer(integer);
    }
    if (digits < -integer.bitLength()) {
      return 0L;
    }
    return PythonNumbers.integer(
        new BigDecimal(integer).setScale((int) digits, RoundingMode.HALF_EVEN).toBigInteger());
  }

  private static Object roundedReal(double value, long digits) {
    if (Double.isNaN(value) || Double.isInfinite(value) || digits > 330) {
      return value;
    }
    if (digits < -330) {
      return Math.copySign(0.0, value);
    }
    double rounded =
        new BigDecimal(value).setScale((int) digits, RoundingMode.HALF_EVEN).doubleValue();
    if (Double.isInfinite(rounded)) {
      throw TemplateFault.error("rounded value too large to represent");
    }
    return rounded == 0 ? Math.copySign(0.0, value) : rounded;
  }

  /** {@code func(value * 10 ** precision) / 10 ** precision}. */
  private static Object rounded(Budget budget, Object value, Object precision, boolean up) {
    Object power = Operators.binary(budget, "**", 10L, precision);
    Object scaled = Operators.binary(budget, "*", value, power);
    Object whole = scaled;
    if (scaled instanceof Double real) {
      whole = PythonNumbers.truncated(up ? Math.ceil(real) : Math.floor(real));
    } else if (!PythonNumbers.isInteger(scaled)) {
      throw TemplateFault.error("must be real number, not " + PythonValues.typeName(scaled));
    }
    return Operators.binary(budget, "/", whole, power);
  }
}
