package io.kvasir.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Changes operations at random, so that most of them are no longer valid. */
final class LineMutations {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<Object> ODD_VALUES =
      Arrays.asList(
          null,
          true,
          "",
          "x",
          "\ud800",
          "0x1p3",
          "\uff11",
          "9".repeat(300),
          -1,
          0,
          0.5,
          Integer.MAX_VALUE,
          1L << 31,
          Long.MAX_VALUE,
          Long.MIN_VALUE,
          BigInteger.ONE.shiftLeft(64),
          new BigDecimal("1e999"),
          new BigDecimal("-1e-999"),
          List.of(),
          Map.of(),
          Arrays.asList(1, null),
          List.of(List.of(List.of(1))),
          Map.of("", Map.of("x", 1)));

  private final Random random;

  LineMutations(Random random) {
    this.random = random;
  }

  static byte[] bytes(Map<String, Object> line) {
    try {
      return JSON.writeValueAsString(line).getBytes(StandardCharsets.UTF_8);
    } catch (JsonProcessingException e) {
      throw new AssertionError(e);
    }
  }

  /** A changed line, without line ends. */
  byte[] mutated(Map<String, Object> line) {
    byte[] bytes = random.nextBoolean() ? bytes(changed(line)) : damaged(bytes(line));
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = bytes[i] == '\n' ? (byte) ' ' : bytes[i];
    }
    return bytes;
  }

  /** A copy in which one field or element, at any depth, is dropped, renamed or replaced. */
  private Map<String, Object> changed(Map<String, Object> line) {
    Map<String, Object> copy = new LinkedHashMap<>();
    line.forEach((field, value) -> copy.put(field, copyOf(value)));
    List<Object> containers = new ArrayList<>();
    collect(copy, containers);
    Object target = containers.get(random.nextInt(containers.size()));
    if (target instanceof Map<?, ?>) {
      @SuppressWarnings("unchecked")
      Map<String, Object> object = (Map<String, Object>) target;
      change(object);
    } else {
      @SuppressWarnings("unchecked")
      List<Object> list = (List<Object>) target;
      list.add(random.nextInt(list.size() + 1), odd());
    }
    return copy;
  }

  private void change(Map<String, Object> object) {
    List<String> fields = List.copyOf(object.keySet());
    String field = fields.isEmpty() ? "x" : fields.get(random.nextInt(fields.size()));
    switch (random.nextInt(4)) {
      case 0 -> object.remove(field);
      case 1 -> object.put("un" + field, object.remove(field));
      default -> object.put(field, odd());
    }
  }

  private Object odd() {
    return ODD_VALUES.get(random.nextInt(ODD_VALUES.size()));
  }

  private static Object copyOf(Object value) {
    if (value instanceof Map<?, ?> object) {
      Map<Object, Object> copy = new LinkedHashMap<>();
      object.forEach((field, each) -> copy.put(field, copyOf(each)));
      return copy;
    }
    if (value instanceof List<?> list) {
      List<Object> copy = new ArrayList<>();
      list.forEach(each -> copy.add(copyOf(each)));
      return copy;
    }
    return value;
  }

  private static void collect(Object value, List<Object> containers) {
    if (value instanceof Map<?, ?> object) {
      containers.add(object);
      object.values().forEach(each -> collect(each, containers));
    } else if (value instanceof List<?> list) {
      containers.add(list);
      list.forEach(each -> collect(each, containers));
    }
  }

  private byte[] damaged(byte[] line) {
    int at = random.nextInt(line.length);
    String field = new String(line, StandardCharsets.UTF_8).substring(1);
    return switch (random.nextInt(7)) {
      case 0 -> Arrays.copyOf(line, at);
      case 1 -> spliced(line, at, new byte[] {(byte) 0xff});
      case 2 -> spliced(line, at, new byte[] {(byte) 0xc0, (byte) 0x80, 0});
      case 3 -> spliced(line, at, "[".repeat(2000).getBytes(StandardCharsets.UTF_8));
      case 4 -> ("{\"op\":1," + field).getBytes(StandardCharsets.UTF_8);
      case 5 -> spliced(line, at, "1".repeat(2000).getBytes(StandardCharsets.UTF_8));
      default -> {
        byte[] flipped = line.clone();
        flipped[at] ^= (byte) (1 << random.nextInt(8));
        yield flipped;
      }
    };
  }

  private static byte[] spliced(byte[] line, int at, byte[] part) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(line, 0, at);
    out.writeBytes(part);
    out.write(line, at, line.length - at);
    return out.toByteArray();
  }
}
