package io.kvasir.tokens.template;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.tokens.template.JinjaProcess.Outcome;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Templates in the manner of models' render as Jinja renders them, with its errors. */
class ChatTemplateVectorsTest {

  private static final String[] CONSTRUCTS = {
    "{#",
    "{#-",
    "{{-",
    "-}}",
    "{%-",
    "-%}",
    "{%+",
    "+%}",
    "{% raw %}",
    "elif",
    "else",
    "recursive",
    "loop.index0",
    "loop.revindex",
    "loop.previtem",
    "loop.nextitem",
    "loop.cycle",
    "loop.changed",
    "loop.depth",
    "{% break %}",
    "{% continue %}",
    "macro",
    "caller",
    "{% call",
    "varargs",
    "kwargs",
    "{% filter",
    "endset",
    "namespace(",
    "dict(",
    "range(",
    "cycler(",
    "joiner(",
    "{% with",
    "{% generation %}",
    "raise_exception",
    "strftime_now",
    "tojson(indent",
    "separators=",
    "[::-1]",
    "not in",
    "is not defined",
    "is mapping",
    "is sequence",
    "is iterable",
    "is string",
    "| items",
    "selectattr",
    "rejectattr",
    "map(attribute",
    "map('",
    "groupby",
    "batch(",
    "slice(",
    "dictsort",
    "unique",
    ".split(",
    ".rstrip(",
    ".startswith(",
    ".items()",
    ".get(",
    "|safe",
    "**",
    "//",
    " ~ "
  };

  @TestFactory
  Stream<DynamicTest> rendersAsJinja() throws Exception {
    Map<String, String> templates = TemplateVectors.templates();
    JsonNode conversations = TemplateVectors.conversations();
    JsonNode answers = TemplateVectors.answers();
    return templates.entrySet().stream()
        .flatMap(
            template ->
                conversations.properties().stream()
                    .map(
                        conversation ->
                            DynamicTest.dynamicTest(
                                template.getKey() + ", " + conversation.getKey(),
                                () ->
                                    check(
                                        Outcome.of(
                                            answers
                                                .path(template.getKey())
                                                .path(conversation.getKey())),
                                        Rendering.render(
                                            template.getValue(), conversation.getValue())))));
  }

  private static void check(Outcome expected, Outcome found) {
    assertThat(found.unsupported() && !expected.failure().contains("Recursion"))
        .as(found.failure())
        .isFalse();
    assertThat(found.text()).as(found + " for " + expected).isEqualTo(expected.text());
    if (expected.failure().contains("TemplateError")) {
      assertThat(found.failure()).startsWith("RAISED");
    }
  }

  @Test
  void templatesUseEveryConstruct() throws Exception {
    Map<String, String> templates = TemplateVectors.templates();
    assertThat(templates).hasSizeGreaterThanOrEqualTo(40);
    String all = String.join("\n", templates.values());
    assertThat(CONSTRUCTS).allSatisfy(construct -> assertThat(all).contains(construct));
  }
}
