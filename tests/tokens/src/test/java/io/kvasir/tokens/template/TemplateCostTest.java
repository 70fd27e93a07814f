package io.kvasir.tokens.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.tokens.template.TemplateException.Reason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What work on long texts costs, in steps, and what it results in. */
class TemplateCostTest {

  /** The default ones, on a machine that may be busy. */
  private static final TemplateLimits PATIENT =
      new TemplateLimits(1 << 20, 200, 1 << 24, 20_000_000L, Duration.ofMinutes(1));

  private static String render(String template, Object x) {
    return JinjaChatTemplate.compile(template, PATIENT).render(Map.of("x", x), Rendering.CLOCK);
  }

  private static void assertCostsMore(long steps, String template, Object x) {
    TemplateLimits limits = new TemplateLimits(1000, 200, 1 << 20, steps);
    JinjaChatTemplate compiled = JinjaChatTemplate.compile(template, limits);
    assertThatExceptionOfType(TemplateException.class)
        .isThrownBy(() -> compiled.render(Map.of("x", x), Rendering.CLOCK))
        .matches(failure -> failure.reason() == Reason.LIMIT);
  }

  @ParameterizedTest
  @ValueSource(strings = {"split()", "rsplit()", "split(' ')", "rsplit(' ')", "splitlines()"})
  void eachPartOfASplitIsAStep(String split) {
    assertCostsMore(9_999, "{{ x." + split + "|length }}", "a \n".repeat(10_000));
  }

  @Test
  void splitsKeepTheSpacesThatPythonKeeps() {
    String splits =
        "{{ [x.split(), x.rsplit(), x.split(none, 1), x.rsplit(none, 1),"
            + " x.split(none, 0), x.rsplit(none, 0)] }}";
    assertThat(render(splits, " a  b c "))
        .isEqualTo(
            "[['a', 'b', 'c'], ['a', 'b', 'c'], ['a', 'b c '], [' a  b', 'c'],"
                + " ['a  b c '], [' a  b c']]");
    assertThat(render(splits, "  ")).isEqualTo("[[], [], [], [], [], []]");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x.find(y)",
        "x.rfind(y)",
        "x.count(y)",
        "x.replace(y, '')|length",
        "x.split(y)|length",
        "x.rsplit(y)|length",
        "x.partition(y)|length",
        "y in x"
      })
  void searchesCostStepsForBothTexts(String search) {
    String text = "a".repeat(100_000);
    String template = "{% set y = 'a' * 30 ~ 'b' ~ 'a' * 29 %}{{ " + search + " }}";
    assertCostsMore(20_000, template, text);
    String large = template.replace("30", "40000").replace("29", "20000");
    assertThat(render(large, text)).isIn("-1", "0", "100000", "1", "3", "False");
  }

  @ParameterizedTest
  @CsvSource({
    "A\u03a3.B, a\u03c3.b",
    "A:\u03a3, a:\u03c2",
    "A^\u03a3, a^\u03c2",
    "A\u03a3`B, a\u03c3`b",
    "A\u03a31B, a\u03c21b",
    "1\u03a3, 1\u03c3",
    "\u03a3\u03a3 A\u03a3, \u03c3\u03c2 a\u03c2",
    "\u0130\u03a3, i\u0307\u03c2",
  })
  void aSigmaHasTheSmallFormOfPython(String text, String lower) {
    assertThat(render("{{ x.lower() }}", text)).isEqualTo(lower);
    assertThat(render("{{ x.title()[1:] }}", "A" + text.substring(1)))
        .hasSize(text.length() - 1)
        .doesNotContain(text.endsWith("A\u03a3") ? "A\u03a3" : "\u03a3\u03a3");
  }

  @Test
  void longRunsOfSigmasAreLowered() {
    String text = "\u03a3".repeat(1 << 20);
    assertThat(render("{{ x.lower() }}", text))
        .isEqualTo("\u03c3".repeat((1 << 20) - 1) + "\u03c2");
  }

  @Test
  void floatsHaveTheShortestFormOfPython() {
    List<Double> floats =
        List.of(
            Math.scalb(1.0, -44),
            Math.scalb(1.0, -1074),
            Math.scalb(1.0, -1022),
            Math.scalb(1.0, 50) + 0.25,
            2e-323,
            1e22,
            -1e-5,
            1e16,
            Double.MAX_VALUE);
    assertThat(render("{{ x }}", floats))
        .isEqualTo(
            "[5.684341886080802e-14, 5e-324, 2.2250738585072014e-308, 1125899906842624.2,"
                + " 2e-323, 1e+22, -1e-05, 1e+16, 1.7976931348623157e+308]");
  }

  @ParameterizedTest
  @ValueSource(strings = {"{{ x }}", "{{ x|tojson }}"})
  void aFloatCostsSteps(String template) {
    assertCostsMore(64_000, template, Stream.generate(() -> 2.225e-308).limit(1000).toList());
  }

  @Test
  void controlCharactersAreEscaped() {
    assertThat(render("{{ x|tojson }}{{ [x] }}", "\u0001\u001f\u007f"))
        .isEqualTo("\"\\u0001\\u001f\u007f\"['\\x01\\x1f\\x7f']");
    assertThat(render("{{ x|tojson(ensure_ascii=true) }}", "\u007f\u00e9\ud83d"))
        .isEqualTo("\"\\u007f\\u00e9\\ud83d\"");
    assertThat(render("{{ [x] }}", "\u2028\udb40\udc01")).isEqualTo("['\\u2028\\U000e0001']");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x|sort|length",
        "x|min|length",
        "x|unique|list|length",
        "x|groupby(0)|length",
        "{0: x[0]}|dictsort(by='value')|length"
      })
  void smallLettersForAnOrderCostSteps(String expression) {
    String template = "{% for i in range(100) %}{{ " + expression + " }}{% endfor %}";
    assertCostsMore(100_000, template, List.of("A".repeat(100_000)));
  }

  @Test
  void aRenderingHasASecond() {
    assertThat(TemplateLimits.DEFAULT.time()).isEqualTo(Duration.ofSeconds(1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new TemplateLimits(1, 1, 1, 1, Duration.ZERO));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{% for part in message.content %}{% endfor %}; true",
        "{% for part in m[ 'content' ] %}{% endfor %}; true",
        "{% set c = m['content'] %}{% for part in c %}{% endfor %}; true",
        "{% set c = m['content'] %}{% for part in cc %}{% endfor %}; false",
        "{{ m.content }}; false",
      })
  void loopsOverContentsAreFound(String template, boolean readsParts) {
    assertThat(JinjaChatTemplate.compile(template).readsParts()).isEqualTo(readsParts);
  }

  @Test
  void manyNamesOfContentsAreSearchedForAtOnce() {
    StringBuilder source = new StringBuilder();
    for (int i = 0; i < 20_000; i++) {
      source.append("{% set c").append(i).append("=m.content %}");
    }
    assertThat(JinjaChatTemplate.compile(source.toString()).readsParts()).isFalse();
  }
}
