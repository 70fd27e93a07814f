package io.kvasir.tokens.template;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.tokens.PythonProcess;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A Python process that renders with Jinja: the oracle of these tests. */
final class JinjaProcess implements AutoCloseable {

  private static final String VERSION =
      "import jinja2; assert (3, 1, 5) <= tuple(map(int, jinja2.__version__.split('.'))) < (3, 2)";

  private final PythonProcess process;

  private JinjaProcess(PythonProcess process) {
    this.process = process;
  }

  /** Why there is no oracle on this machine; empty if there is one. */
  static Optional<String> missing() {
    return PythonProcess.missing(VERSION, "python3 has no jinja2 3.1.5 or later to compare with");
  }

  /** Whether {@code sum()} rounds after each float; since Python 3.12 it does not. */
  static boolean addsFloatsOneByOne() throws IOException {
    return PythonProcess.succeeds("import sys; assert sys.version_info < (3, 12)");
  }

  static JinjaProcess start() throws IOException {
    return new JinjaProcess(PythonProcess.start("chat_templates.py", "serve"));
  }

  /** What Jinja makes of a template. */
  Outcome render(String template, JsonNode variables) throws IOException {
    return Outcome.of(process.ask(Map.of("template", template, "variables", variables)));
  }

  @Override
  public void close() throws IOException {
    process.close();
  }

  /**
   * What became of a template.
   *
   * @param text that was rendered; null if it was not
   * @param failure why
   * @param unsupported whether Kvasir says that it does not know something, or a limit was reached
   */
  record Outcome(@Nullable String text, String failure, boolean unsupported) {

    static Outcome of(JsonNode answer) {
      JsonNode text = answer.get("text");
      return text == null
          ? new Outcome(null, answer.toString(), false)
          : new Outcome(text.textValue(), "", false);
    }

    static Outcome of(TemplateException refused) {
      boolean unsupported =
          refused.reason() == TemplateException.Reason.UNSUPPORTED
              || refused.reason() == TemplateException.Reason.LIMIT;
      return new Outcome(null, refused.reason() + " " + refused.getMessage(), unsupported);
    }
  }
}
