package io.kvasir.tokens.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kvasir.tokens.template.TemplateException.Reason;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What templates are refused, where, and with which bounds. Vectors have what is rendered. */
class JinjaChatTemplateTest {

  private static String render(String template, Map<String, ?> variables) {
    return JinjaChatTemplate.compile(template).render(variables, Rendering.CLOCK);
  }

  private static void assertRefused(Reason reason, int line, int column, Callable<?> refused) {
    assertThatExceptionOfType(TemplateException.class)
        .isThrownBy(refused::call)
        .satisfies(
            failure -> {
              assertThat(failure.reason()).as(failure.getMessage()).isEqualTo(reason);
              assertThat(failure.line()).as(failure.getMessage()).isEqualTo(line);
              assertThat(failure.column()).as(failure.getMessage()).isEqualTo(column);
            });
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{% include 'x' %}; tag 'include'; 4",
        "{% block a %}{% endblock %}; tag 'block'; 4",
        "{% do x %}; tag 'do'; 4",
        "{{ x|pprint }}; filter 'pprint'; 6",
        "{{ x|map('urlize') }}; filter 'urlize'; 10",
        "{{ x|selectattr('a', 'odder') }}; test 'odder'; 22",
        "{% if false %}{{ x|nothing }}{% endif %}; filter 'nothing'; 20",
        "{{ x is odder }}; test 'odder'; 9",
        "{{ x.explode() }}; method 'explode'; 6",
        "{{ ''.casefold() }}; method 'casefold'; 7",
        "{{ self }}; variable 'self'; 4",
        "{% if x %}{{ self.title() }}{% endif %}; variable 'self'; 14",
        "{{ tool_call(1) }}; function 'tool_call'; 4",
        "{{ lipsum() }}; function 'lipsum'; 4",
        "{{ x.__class__ }}; attribute '__class__'; 6",
        "{{ größe }}; names have ASCII letters; 6",
        "{{ '\\N{DASH}' }}; names of characters; 4",
      })
  void whatIsNotKnownIsRefusedWhenCompiled(String template, String message, int column) {
    assertRefused(Reason.UNSUPPORTED, 1, column, () -> JinjaChatTemplate.compile(template));
    assertThatExceptionOfType(TemplateException.class)
        .isThrownBy(() -> JinjaChatTemplate.compile(template))
        .withMessageContaining("not supported: ")
        .withMessageContaining(message);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{{ x",
        "{{ }}",
        "{% if x %}",
        "{% endif %}",
        "{% for x %}{% endfor %}",
        "{{ 'a }}",
        "{{ (1 }}",
        "{{ 1] }}",
        "{# x",
        "{% raw %}",
        "{% set 1 = 2 %}",
        "{% set x.y.z = 2 %}",
        "{{ x. }}",
        "{{ a b }}",
        "{% break %}",
        "{% macro m() %}{% continue %}{% endmacro %}",
        "{{ f(a=1, a=2) }}",
        "{{ 1 ? 2 }}",
        "{% for x in y %}{% set loop = 1 %}{% endfor %}",
        "{{ '\\xg' }}",
        "{{ x is odd is even }}",
        "{% for x in y %}{% generation %}{% break %}{% endgeneration %}{% endfor %}",
        "{% set x %}",
        "{% macro m(a=1, b) %}{% endmacro %}",
        "{{ dict(**a, b=1) }}",
        "{% call 1 %}"
      })
  void whatIsNoTemplateIsRefused(String template) {
    assertThatExceptionOfType(TemplateException.class)
        .isThrownBy(() -> JinjaChatTemplate.compile(template))
        .matches(failure -> failure.line() == 1 && failure.column() > 0);
  }

  @Test
  void whatIsFoundToBeUnknownIsRefusedWhenRendered() {
    assertRefused(Reason.UNSUPPORTED, 1, 7, () -> render("{{ (''['casefold'])() }}", Map.of()));
    assertThat(render("{% set self = 1 %}{{ self }}", Map.of())).isEqualTo("1");
  }

  @Test
  void failuresHaveTheirPlaceInTheTemplate() {
    assertRefused(
        Reason.RENDER, 3, 15, () -> render("\uD83D\uDE00\n\n {{ 'a' ~ 'b' + 1 }}", Map.of()));
    assertRefused(Reason.SYNTAX, 2, 6, () -> JinjaChatTemplate.compile("\r\n{{ x ? }}"));
    assertThatExceptionOfType(TemplateException.class)
        .isThrownBy(() -> render("{{ raise_exception('No ' ~ 1) }}", Map.of()))
        .withMessage("No 1 (line 1, column 4)")
        .matches(failure -> failure.reason() == Reason.RAISED);
  }

  @Test
  void valuesOfTheCallerAreReadAsPythonValues() {
    Map<String, Object> variables = new HashMap<>();
    variables.put("none", null);
    variables.put("x", Arrays.asList(null, 1, (short) 2, 3L, 1.5f, BigInteger.TEN.pow(20), true));
    assertThat(render("{{ x }}{{ x|tojson }}", variables))
        .isEqualTo(
            "[None, 1, 2, 3, 1.5, 100000000000000000000, True]"
                + "[null, 1, 2, 3, 1.5, 100000000000000000000, true]");
    assertRefused(
        Reason.UNSUPPORTED, 1, 6, () -> render("{{ x.y }}", Map.of("x", Map.of("y", 'c'))));
  }

  @Test
  void lengthsMayBeFloatsAndBatchesEmptyAsInJinja() {
    assertThat(render("{{ 'b.c'|truncate(3.0) }}{{ [1]|truncate(3.0) }}", Map.of()))
        .isEqualTo("b.c[1]");
    assertThat(render("{{ range(3)|batch(0)|list }}{{ []|batch(0)|list }}", Map.of()))
        .isEqualTo("[[], [0, 1, 2]][]");
  }

  @Test
  void brokenUtf16IsRenderedAsItIs() {
    Map<String, String> broken = Map.of("x", "a\uDE00b\uD83D");
    assertThat(render("{{ x }}{{ x[1:]|length }}{{ x|reverse }}{{ x|upper }}", broken))
        .isEqualTo("a\uDE00b\uD83D3\uD83Db\uDE00aA\uDE00B\uD83D");
    assertThat(render("{{ [x] }}", broken)).isEqualTo("['a\\ude00b\\ud83d']");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
        "{{ 'a' * 99999999 }}",
        "{{ [1] * 99999999 }}",
        "{% set ns = namespace(x='a') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% for i in range(100000) %}{{ 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' }}{% endfor %}",
        "{{ 9 ** (9 ** 9) }}",
        "{{ 'a'|center(99999999) }}",
        "{{ [1]|slice(12345678901234567890)|list }}",
        "{{ ('a' * 9999)|replace('', 'b' * 9999) }}",
        "{% set ns = namespace(x=[]) %}{% for i in range(9999) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
        "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}"
      })
  void renderingIsBounded(String template) {
    TemplateLimits limits = new TemplateLimits(1000, 200, 1 << 20, 1_000_000);
    assertThatExceptionOfType(TemplateException.class)
        .isThrownBy(
            () -> JinjaChatTemplate.compile(template, limits).render(Map.of(), Rendering.CLOCK))
        .matches(failure -> failure.reason() == Reason.LIMIT);
  }

  @Test
  void compilingIsBounded() {
    for (String nested :
        List.of(
            "{{ " + "(".repeat(5000) + "1" + ")".repeat(5000) + " }}",
            "{{ " + "-".repeat(5000) + "1 }}",
            "{{ " + "not ".repeat(5000) + "1 }}",
            "{{ 1" + " + 1".repeat(5000) + " }}",
            "{{ x" + ".x".repeat(5000) + " }}",
            "{{ x" + "|trim".repeat(5000) + " }}",
            "{{ 1" + " if 1 else 1".repeat(5000) + " }}",
            "{% if x %}".repeat(5000) + "{% endif %}".repeat(5000),
            "a".repeat((1 << 20) + 1))) {
      assertThatExceptionOfType(TemplateException.class)
          .isThrownBy(() -> JinjaChatTemplate.compile(nested))
          .matches(failure -> failure.reason() == Reason.LIMIT);
    }
    assertThat(render("{{ 'a'" + " ~ 'a'".repeat(5000) + " }}", Map.of())).hasSize(5001);
  }

  @Test
  void oneTemplateRendersInManyThreads() throws Exception {
    JinjaChatTemplate template =
        JinjaChatTemplate.compile(
            "{% set ns = namespace(n=0) %}{% for m in ms %}{% set ns.n = ns.n + m %}{% endfor %}{{ ns.n }}");
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Callable<String>> tasks =
          IntStream.range(0, 200)
              .<Callable<String>>mapToObj(
                  i ->
                      () ->
                          template.render(
                              Map.of("ms", Stream.generate(() -> i).limit(100).toList()),
                              Rendering.CLOCK))
              .toList();
      int i = 0;
      for (var result : threads.invokeAll(tasks)) {
        assertThat(result.get()).isEqualTo(String.valueOf(100 * i++));
      }
    } finally {
      threads.shutdownNow();
    }
  }
}
