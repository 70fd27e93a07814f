package io.kvasir.tokens.template.python;

import java.math.BigDecimal;
import java.math.BigInteger;

/** Arithmetic of integers of any size and of floats. Stateless. */
public final class PythonNumbers {

  private static final BigInteger LEAST = BigInteger.valueOf(Long.MIN_VALUE);
  private static final BigInteger MOST = BigInteger.valueOf(Long.MAX_VALUE);

  /** Longer integers are refused. */
  private static final int LONGEST_BITS = 1 << 16;

  private PythonNumbers() {}

  public static boolean isInteger(Object value) {
    return value instanceof Long || value instanceof Boolean || value instanceof BigInteger;
  }

  public static boolean isNumber(Object value) {
    return isInteger(value) || value instanceof Double;
  }

  /** The shortest form of an integer. */
  public static Object integer(BigInteger number) {
    if (number.compareTo(LEAST) >= 0 && number.compareTo(MOST) <= 0) {
      return number.longValue();
    }
    if (number.bitLength() > LONGEST_BITS) {
      throw TemplateFault.limit("an integer of more than " + LONGEST_BITS + " bits");
    }
    return number;
  }

  public static BigInteger big(Object integer) {
    return integer instanceof BigInteger large ? large : BigInteger.valueOf(toLong(integer));
  }

  /** The value of a Long or Boolean. */
  public static long toLong(Object integer) {
    return integer instanceof Boolean truth ? (truth ? 1 : 0) : (Long) integer;
  }

  /** A number of repetitions, an index and the like. */
  public static long bounded(Object value, String what) {
    if (!isInteger(value)) {
      throw TemplateFault.error(
          what + ": '" + PythonValues.typeName(value) + "' object is no integer");
    }
    if (value instanceof BigInteger) {
      throw TemplateFault.unsupported(what + " with a number of this size");
    }
    return toLong(value);
  }

  public static double toDouble(Object number) {
    if (number instanceof Double value) {
      return value;
    }
    if (number instanceof BigInteger large) {
      double value = large.doubleValue();
      if (Double.isInfinite(value)) {
        throw TemplateFault.error("int too large to convert to float");
      }
      return value;
    }
    return (double) toLong(number);
  }

  static Object arithmetic(String operator, Object left, Object right) {
    if (left instanceof Double || right instanceof Double) {
      return floats(operator, toDouble(left), toDouble(right));
    }
    if (left instanceof BigInteger || right instanceof BigInteger) {
      return large(operator, big(left), big(right));
    }
    long a = toLong(left);
    long b = toLong(right);
    switch (operator) {
      case "+" -> {
        long sum = a + b;
        return ((a ^ sum) & (b ^ sum)) < 0 ? large(operator, big(a), big(b)) : (Object) sum;
      }
      case "-" -> {
        long difference = a - b;
        return ((a ^ b) & (a ^ difference)) < 0
            ? large(operator, big(a), big(b))
            : (Object) difference;
      }
      case "//", "%" -> {
        if (b == 0 || b == -1) {
          return large(operator, big(a), big(b));
        }
        return operator.equals("%") ? Math.floorMod(a, b) : Math.floorDiv(a, b);
      }
      default -> {
        return large(operator, big(a), big(b));
      }
    }
  }

  private static Object large(String operator, BigInteger a, BigInteger b) {
    return switch (operator) {
      case "+" -> integer(a.add(b));
      case "-" -> integer(a.subtract(b));
      case "*" -> integer(a.multiply(b));
      case "/" -> quotient(a, b);
      case "//", "%" -> {
        if (b.signum() == 0) {
          throw TemplateFault.error("integer division or modulo by zero");
        }
        BigInteger[] parts = a.divideAndRemainder(b);
        boolean down = parts[1].signum() != 0 && parts[1].signum() != b.signum();
        yield operator.equals("%")
            ? integer(down ? parts[1].add(b) : parts[1])
            : integer(down ? parts[0].subtract(BigInteger.ONE) : parts[0]);
      }
      default -> power(a, b);
    };
  }

  /** The double closest to a quotient. */
  private static Object quotient(BigInteger a, BigInteger b) {
    if (b.signum() == 0) {
      throw TemplateFault.error("division by zero");
    }
    if (a.bitLength() <= 53 && b.bitLength() <= 53) {
      return a.doubleValue() / b.doubleValue();
    }
    // Enough bits to round once: the quotient with a bit that stands for the rest.
    int shift = Math.max(0, 66 - (a.bitLength() - b.bitLength()));
    BigInteger[] parts = a.abs().shiftLeft(shift).divideAndRemainder(b.abs());
    BigInteger sticky = parts[0].shiftLeft(1);
    if (parts[1].signum() != 0) {
      sticky = sticky.or(BigInteger.ONE);
    }
    BigDecimal scaled =
        new BigDecimal(sticky).divide(new BigDecimal(BigInteger.ONE.shiftLeft(shift + 1)));
    double value = scaled.doubleValue();
    if (Double.isInfinite(value)) {
      throw TemplateFault.error("integer division result too large for a float");
    }
    return a.signum() * b.signum() < 0 ? -value : value;
  }

  private static Object power(BigInteger base, BigInteger exponent) {
    if (exponent.signum() < 0) {
      return floatPower(toDouble(base), toDouble(exponent));
    }
    if (base.abs().bitLength() <= 1) {
      boolean odd = exponent.testBit(0);
      return exponent.signum() == 0 ? 1L : base.signum() < 0 && !odd ? 1L : base.longValue();
    }
    if (exponent.bitLength() > 20
        || (long) base.bitLength() * exponent.intValue() > 2L * LONGEST_BITS) {
      throw TemplateFault.limit("an integer of more than " + LONGEST_BITS + " bits");
    }
    return integer(base.pow(exponent.intValue()));
  }

  private static Object floats(String operator, double a, double b) {
    return switch (operator) {
      case "+" -> a + b;
      case "-" -> a - b;
      case "*" -> a * b;
      case "/" -> {
        checkDivisor(b);
        yield a / b;
      }
      case "//" -> floorQuotient(a, b);
      case "%" -> modulo(a, b);
      default -> floatPower(a, b);
    };
  }

  private static void checkDivisor(double divisor) {
    if (divisor == 0) {
      throw TemplateFault.error("float division by zero");
    }
  }

  private static double modulo(double a, double b) {
    checkDivisor(b);
    double rest = a % b;
    if (rest == 0) {
      return Math.copySign(0.0, b);
    }
    return (rest < 0) == (b < 0) ? rest : rest + b;
  }

  private static double floorQuotient(double a, double b) {
    checkDivisor(b);
    double rest = a % b;
    double quotient = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0)) {
      quotient -= 1;
    }
    if (quotient == 0) {
      return Math.copySign(0.0, a / b);
    }
    double floor = Math.floor(quotient);
    return quotient - floor > 0.5 ? floor + 1 : floor;
  }

  private static Object floatPower(double base, double exponent) {
    if (base == 0 && exponent < 0) {
      throw TemplateFault.error("0.0 cannot be raised to a negative power");
    }
    if (base == 1) {
      return 1.0;
    }
    if (base == -1 && Double.isInfinite(exponent)) {
      return 1.0;
    }
    if (base < 0 && !Double.isInfinite(base) && exponent != Math.rint(exponent)) {
      throw TemplateFault.unsupported("complex numbers");
    }
    double power = Math.pow(base, exponent);
    if (Double.isInfinite(power) && !Double.isInfinite(base) && !Double.isInfinite(exponent)) {
      throw TemplateFault.error("the result of a power is too large");
    }
    return power;
  }

  static Object negated(Object value) {
    if (value instanceof Double number) {
      return -number;
    }
    return integer(big(value).negate());
  }

  /** An integer from what is cut off behind the point of a float. */
  public static Object truncated(double number) {
    if (Double.isNaN(number) || Double.isInfinite(number)) {
      throw TemplateFault.error(
          "cannot convert float " + PythonRepr.number(number) + " to integer");
    }
    return integer(new BigDecimal(number).toBigInteger());
  }
}
