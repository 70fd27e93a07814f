package io.kvasir.tokens;

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
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.TimeUnit;

/** A script of {@code oracle/} that answers JSON lines: what these tests compare with. */
public final class PythonProcess implements AutoCloseable {

  /** Writes ASCII only. */
  public static final ObjectMapper JSON =
      JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  /** The folder of all tests. */
  public static final Path TESTS =
      Path.of(Objects.requireNonNull(System.getProperty("kvasir.root")), "tests");

  private static final Duration LONGEST_ANSWER = Duration.ofMinutes(1);

  private static final int MAX_SHOWN = 1000;

  private final Process process;
  private final Timer timer = new Timer("Python", true);
  private final BufferedWriter requests;
  private final BufferedReader answers;

  private PythonProcess(Process process) {
    this.process = process;
    requests = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), UTF_8));
    answers = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
  }

  /** Starts a script. */
  public static PythonProcess start(String script, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of("python3", "-W", "ignore"));
    command.add(TESTS.resolve("tokens/oracle").resolve(script).toString());
    command.addAll(List.of(arguments));
    return new PythonProcess(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /**
   * Why there is no oracle on this machine; empty if there is one.
   *
   * @param code fails if Python lacks something
   * @param reason says what it is
   */
  public static Optional<String> missing(String code, String reason) {
    try {
      return succeeds(code) ? Optional.empty() : Optional.of(reason);
    } catch (IOException none) {
      return Optional.of("there is no python3 to compare with");
    }
  }

  /** Whether code runs to its end. */
  public static boolean succeeds(String code) throws IOException {
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

  /** The answer to a request. */
  public JsonNode ask(Object request) throws IOException {
    String asked = JSON.writeValueAsString(request);
    requests.write(asked);
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
      throw new IOException(
          "the Python process ended, or gave no answer in time, to "
              + asked.substring(0, Math.min(asked.length(), MAX_SHOWN)));
    }
    return JSON.readTree(line);
  }

  @Override
  public void close() throws IOException {
    timer.cancel();
    requests.close();
    answers.close();
    process.destroy();
  }
}
