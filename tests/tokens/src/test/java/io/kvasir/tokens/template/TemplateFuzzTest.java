package io.kvasir.tokens.template;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.testing.harness.Fuzz;
import io.kvasir.tokens.PythonProcess;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Damaged templates, and random variables: never anything but a text or a TemplateException. */
@Tag("fuzz")
class TemplateFuzzTest {

  private static final TemplateLimits LIMITS = new TemplateLimits(1 << 20, 200, 1 << 18, 300_000);

  private static final byte[][] TOKENS =
      Stream.of(
              "{{",
              "}}",
              "{%",
              "%}",
              "{#",
              "#}",
              "-",
              "+",
              "%}{%",
              "{% raw %}",
              "{% endraw %}",
              "{% for x in y %}",
              "{% endfor %}",
              "{% if x %}",
              "{% endif %}",
              "{% else %}",
              "{% macro m(a, b=1) %}",
              "{% endmacro %}",
              "{% call m() %}",
              "{% endcall %}",
              "m()",
              "((((((((((",
              "[[[[[[[[[[",
              "{{{{{{{{{{",
              "'",
              "\"",
              "\\",
              "\\x",
              "\\u12",
              "|",
              "|list",
              "|join",
              "|replace('', 'ab')",
              "** 9999",
              "* 99999999",
              "'a' * 1000",
              "[::-1]",
              "[0]",
              ".x",
              ".items()",
              ".split('')",
              "not ",
              " is ",
              " in ",
              "is divisibleby 0",
              "1e999",
              "99999999999999999999",
              "\r\n",
              "\0",
              "\u2028",
              "é",
              "\uD83D\uDE00",
              "recursive",
              "loop(x)",
              "loop.length",
              "{% set x = x + x %}",
              "namespace(",
              "range(99999)",
              "|tojson(indent=99999)",
              "|indent(99999)",
              "|center(9999999)",
              "%(x)s' % {}",
              "%9999d")
          .map(text -> text.getBytes(UTF_8))
          .toArray(byte[][]::new);

  @Test
  void aDamagedTemplateIsRefusedOrRendered() throws Exception {
    List<String> templates = List.copyOf(TemplateVectors.templates().values());
    List<JsonNode> conversations = TemplateVectors.conversations().valueStream().toList();
    Fuzz.run(
        "templates",
        random -> {
          byte[] source = templates.get(random.nextInt(templates.size())).getBytes(UTF_8);
          String damaged = new String(Fuzz.mutated(random, source, TOKENS), UTF_8);
          JsonNode variables = conversations.get(random.nextInt(conversations.size()));
          check(damaged, JsonVariables.ofObject(variables));
        });
  }

  @Test
  void randomExpressionsAndVariablesEndInTimeAndSpace() throws Exception {
    List<String> templates = List.copyOf(TemplateVectors.templates().values());
    Map<String, ?> fixed =
        JsonVariables.ofObject(PythonProcess.JSON.readTree(RandomExpressions.VARIABLES));
    Fuzz.run(
        "renderings",
        random -> {
          if (random.nextBoolean()) {
            RandomExpressions expressions = new RandomExpressions(random);
            check(
                "{% for x in ms %}{% set y = "
                    + expressions.expression(4)
                    + " %}{{ "
                    + expressions.expression(5)
                    + " }}{{ y }}{% endfor %}",
                fixed);
          } else {
            JsonNode variables = new RandomConversations(random).variables();
            String template = templates.get(random.nextInt(templates.size()));
            check(template, broken(random, JsonVariables.ofObject(variables)));
          }
        });
  }

  /** With broken UTF-16, or values of kinds that JSON does not have. */
  private static Map<String, Object> broken(Random random, Map<String, Object> variables) {
    Object odd =
        switch (random.nextInt(5)) {
          case 0 -> "\uD83D";
          case 1 -> "a\uDE00\uD83D";
          case 2 -> 'c';
          case 3 -> Double.NaN;
          default -> List.of(Map.of("role", "user", "content", "\uDE00\uD83Dx"));
        };
    List<String> names = List.of("messages", "bos_token", "tools", "add_generation_prompt");
    variables.put(names.get(random.nextInt(names.size())), odd);
    return variables;
  }

  private static void check(String template, Map<String, ?> variables) {
    try {
      String text = JinjaChatTemplate.compile(template, LIMITS).render(variables, Rendering.CLOCK);
      assertThat(text.length()).isLessThanOrEqualTo(LIMITS.outputCharacters());
    } catch (TemplateException refused) {
      assertThat(refused).hasMessageNotContaining("java.");
    }
  }
}
