package io.kvasir.tokens.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.testing.harness.LongRuns;
import io.kvasir.tokens.template.JinjaProcess.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Random conversations render as Jinja renders them, and fail where it fails. */
class ConversationDifferentialTest {

  @Test
  void randomConversationsRenderAsInJinja() throws Exception {
    Optional<String> missing = JinjaProcess.missing();
    assumeTrue(missing.isEmpty(), missing.orElse(""));
    long seed = Long.getLong("kvasir.template.seed", 20240205);
    int cases = LongRuns.cases(200, 2_000);
    System.out.println("conversations: -Dkvasir.template.seed=" + seed);
    RandomConversations conversations = new RandomConversations(new Random(seed));
    List<String> wrong = new ArrayList<>();
    int rendered = 0;
    Map<String, String> templates = TemplateVectors.templates();
    try (JinjaProcess jinja = JinjaProcess.start()) {
      for (Map.Entry<String, String> template : templates.entrySet()) {
        for (int i = 0; i < cases; i++) {
          JsonNode variables = conversations.variables();
          Outcome expected = jinja.render(template.getValue(), variables);
          Outcome found = Rendering.render(template.getValue(), variables);
          boolean recursion = expected.failure().contains("Recursion");
          boolean same =
              expected.text() == null ? found.text() == null : expected.text().equals(found.text());
          if (!same || (found.unsupported() && !recursion)) {
            wrong.add(
                template.getKey()
                    + " "
                    + variables
                    + "\n  expected "
                    + expected
                    + "\n  found    "
                    + found);
          }
          rendered += found.text() == null ? 0 : 1;
        }
      }
    }
    System.out.println(rendered + " of " + cases * templates.size() + " rendered");
    assertThat(wrong.stream().limit(10).toList()).as(wrong.size() + " cases").isEmpty();
    assertThat(rendered).isGreaterThan(cases * templates.size() / 2);
  }
}
