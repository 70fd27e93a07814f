package io.kvasir.gateway.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.kvasir.gateway.worker.PrometheusText.Sample;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PrometheusTextTest {

  private static List<Sample> read(String text) {
    return PrometheusText.read(text.getBytes(StandardCharsets.UTF_8), Set.of("m:x", "n"));
  }

  @Test
  void theSamplesOfTheWantedMetricsAreRead() {
    String text =
        """
        # HELP m:x a "help" {text}
        # TYPE m:x gauge
        m:x{a="1",b="x \\"q\\" \\\\ \\n{},="} 2.5
        other{a="1"} 3
        m:x_total 1
        n 1e3 1700000000000
        n{} NaN
        \tn 4
        n{ a = "é" , } +Inf""";
    assertThat(read(text))
        .containsExactly(
            new Sample("m:x", Map.of("a", "1", "b", "x \"q\" \\ \n{},="), 2.5),
            new Sample("n", Map.of(), 1000),
            new Sample("n", Map.of(), Double.NaN),
            new Sample("n", Map.of("a", "é"), Double.POSITIVE_INFINITY));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "n",
        "n ",
        "n{",
        "n{a",
        "n{a=",
        "n{a=\"",
        "n{a=\"x\"",
        "n{a=\"x\"} ",
        "n{a=\"\\x\"} 1",
        "n{a=x} 1",
        "n{a=\"1\" b=\"2\"} 1",
        "n{a=\"1\",a=\"2\"} 1",
        "n{=\"1\"} 1",
        "n 0x1",
        "n 1d",
        "n 1 2 3",
        "n 1 x",
        "n{,} 1",
        "n 1e",
        "n .",
        "n-1"
      })
  void anInvalidLineIsSkipped(String line) {
    assertThat(read(line + "\nn 7")).containsExactly(new Sample("n", Map.of(), 7));
  }

  @Test
  void aLineOfManyPartsTakesMemoryInProportionToItsBytes() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    String line = "n " + "1 ".repeat(200_000);
    assertThat(read(line)).isEmpty(); // loads classes
    long before = threads.getCurrentThreadAllocatedBytes();
    assertThat(read(line)).isEmpty();
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(16L * line.length());
  }

  @Test
  void numbersOfLabelsAreChecked() {
    Sample sample = read("n{a=\"16\",b=\"-1\",c=\"x\",d=\"9999999999999999\",e=\"\"} 1").get(0);
    assertThat(sample.number("a")).isEqualTo(16);
    for (String label : List.of("b", "c", "d", "e", "f")) {
      assertThat(sample.number(label)).isEqualTo(-1);
    }
  }

  @Test
  void randomMetricsAreReadAsTheyWereWritten() {
    long seed = Long.getLong("kvasir.test.seed", 48);
    for (int i = 0; i < 2_000; i++) {
      Random random = new Random(seed + i);
      StringBuilder text = new StringBuilder();
      List<Sample> expected = new ArrayList<>();
      for (int j = random.nextInt(6); j > 0; j--) {
        String name = random.nextBoolean() ? "n" : "m:x";
        Map<String, String> labels = new LinkedHashMap<>();
        StringBuilder line = new StringBuilder(name);
        int count = random.nextInt(4);
        for (int k = 0; k < count; k++) {
          String value = value(random);
          labels.put("l" + k, value);
          String escaped = value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
          line.append(k == 0 ? "{" : ",").append("l").append(k).append("=\"").append(escaped);
          line.append('"');
        }
        line.append(count > 0 ? "} " : " ");
        double number = random.nextInt(3) == 0 ? random.nextInt(100) : random.nextGaussian() * 1e9;
        line.append(number).append(random.nextInt(3) == 0 ? " 123" : "");
        expected.add(new Sample(name, labels, number));
        text.append(random.nextInt(3) == 0 ? "# n 5\nq{a=\"}\"} 1\n\n" : "").append(line);
        text.append('\n');
      }
      assertThat(read(text.toString()))
          .as("-Dkvasir.test.seed=%d, text %d: %s", seed, i, text)
          .isEqualTo(expected);
    }
  }

  private static String value(Random random) {
    StringBuilder value = new StringBuilder();
    for (int i = random.nextInt(8); i > 0; i--) {
      value.append("ab\"\\\n{},= é#".charAt(random.nextInt(12)));
    }
    return value.toString();
  }

  @Test
  void randomBytesAreReadWithoutFailure() {
    long seed = Long.getLong("kvasir.test.seed", 49);
    String alphabet = "n{}\"\\=, 1.e+-\n\tab:#\u00e9";
    for (int i = 0; i < 50_000; i++) {
      Random random = new Random(seed + i);
      StringBuilder text = new StringBuilder(random.nextBoolean() ? "n{" : "n ");
      for (int j = random.nextInt(24); j > 0; j--) {
        text.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      for (Sample sample : read(text.toString())) {
        assertThat(sample.name()).as("seed %d: %s", seed, text).isIn("n", "m:x");
      }
    }
  }
}
