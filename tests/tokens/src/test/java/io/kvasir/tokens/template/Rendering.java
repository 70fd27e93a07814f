package io.kvasir.tokens.template;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.tokens.template.JinjaProcess.Outcome;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;

/** Renders as the oracle does: at the same time, with variables from JSON. */
final class Rendering {

  static final Clock CLOCK =
      Clock.fixed(Instant.parse("2024-02-05T09:07:03.000045Z"), ZoneOffset.UTC);

  private Rendering() {}

  static Outcome render(String template, JsonNode variables) {
    try {
      String text =
          JinjaChatTemplate.compile(template).render(JsonVariables.ofObject(variables), CLOCK);
      return new Outcome(text, "", false);
    } catch (TemplateException refused) {
      return Outcome.of(refused);
    }
  }
}
