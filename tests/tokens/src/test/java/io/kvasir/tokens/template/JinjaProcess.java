package io.kvasir.tokens.template;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A Python process that renders with Jinja: the oracle of these tests. */
final class JinjaProcess implements AutoCloseable {

  static final ObjectMapper JSON =
      JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  static final Path TESTS =
      Path.of(Objects.requireNonNull(System.getProperty("kvasir.root")), "tests");

  private static final Duration LONGEST_ANSWER = Duration.ofMinutes(1);

  private final Process process;
  private final Timer timer = new Timer("Jinja", true);
  private final BufferedWriter requests;
  private final BufferedReader answers;

  private JinjaProcess() throws IOException {
    Path script = TESTS.resolve("tokens/oracle/chat_templates.py");
    process =
        new ProcessBuilder("python3", "-W", "ignore", script.toString(), "serve")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    requests = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), UTF_8));
    answers = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
  }

  /** Why there is no oracle on this machine; empty if there is one. */
  static Optional<String> missing() {
    try {
      return succeeds(
              "import jinja2; assert (3, 1, 5) <= tuple(map(int, jinja2.__version__.split('.'))) < (3, 2)")
          ? Optional.empty()
          : Optional.of("python3 has no jinja2 3.1.5 or later to compare with");
    } catch (IOException none) {
      return Optional.of("there is no python3 to compare with");
    }
  }

  /** Whether {@code sum()} rounds after each float; since Python 3.12 it does not. */
  static boolean addsFloatsOneByOne() throws IOException {
    return succeeds("import sys; assert sys.version_info < (3, 12)");
  }

  private static boolean succeeds(String code) throws IOException {
    Process asked =
        new ProcessBuilder("python3", "-c", code)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      return asked.waitFor(LONGEST_ANSWER.toSeconds(), TimeUnit.SECONDS) && asked.exitValue() == 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      asked.destroyForcibly();
    }
  }

  static JinjaProcess start() throws IOException {
    return new JinjaProcess();
  }

  /** What Jinja makes of a template. */
  Outcome render(String template, JsonNode variables) throws IOException {
    requests.write(JSON.writeValueAsString(Map.of("template", template, "variables", variables)));
    requests.write("\n");
    requests.flush();
    TimerTask late =
        new TimerTask() {
          @Override
          public void run() {
            process.destroyForcibly();
          }
        };
    timer.schedule(late, LONGEST_ANSWER.toMillis());
    String line = answers.readLine();
    late.cancel();
    if (line == null) {
      throw new IOException("the Python process ended, or gave no answer in time");
    }
    return Outcome.of(JSON.readTree(line));
  }

  @Override
  public void close() throws IOException {
    timer.cancel();
    requests.close();
    answers.close();
    process.destroy();
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
