package io.kvasir.benchmarks.proxy;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs the load generator. It ends when this process does. Stateless.
 *
 * @param program the program
 */
public record LoadGenerator(Path program) {

  /**
   * Runs the load generator to its end.
   *
   * @param port the port of 127.0.0.1 that receives the requests
   * @param mode what to do: streams, saturate or count
   * @param options the options of that mode
   * @return what it measured, wrong answers included
   * @throws IOException if it does not run
   */
  public LoadReport run(int port, String mode, String... options) throws IOException {
    Process process = start(port, mode, List.of(options));
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      return report(process, lines.readLine());
    } finally {
      process.destroyForcibly();
    }
  }

  /** Does something while streams are open. */
  public interface WhileOpen {

    /**
     * Does it.
     *
     * @throws IOException if it fails
     */
    void run() throws IOException;
  }

  /**
   * Opens streams that stay open after their first chunk, and closes them again.
   *
   * @param port the port of 127.0.0.1 that receives the requests
   * @param streams how many
   * @param whileOpen runs while all are open, for an hour at most
   * @return what was measured, streams that ended included
   * @throws IOException if the load generator or the action fails
   */
  public LoadReport hold(int port, int streams, WhileOpen whileOpen) throws IOException {
    List<String> options = List.of("--streams", Integer.toString(streams), "--seconds", "3600");
    Process process = start(port, "idle", options);
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      String line = lines.readLine();
      if (line != null && line.startsWith("{\"ready\":")) {
        whileOpen.run();
        process.getOutputStream().close();
        line = lines.readLine();
      }
      return report(process, line);
    } finally {
      process.destroyForcibly();
    }
  }

  private Process start(int port, String mode, List<String> options) throws IOException {
    List<String> command = new ArrayList<>();
    command.addAll(List.of(program.toString(), mode, "--port", Integer.toString(port)));
    command.addAll(options);
    return new ProcessBuilder(command).start();
  }

  private LoadReport report(Process process, @Nullable String line) throws IOException {
    if (line == null) {
      String error = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
      throw new IOException("the load generator failed: " + error.strip());
    }
    return LoadReport.parse(line);
  }
}
