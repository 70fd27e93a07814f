package io.kvasir.cli.command;

import io.kvasir.cli.option.Block;
import io.kvasir.cli.option.Declared;
import io.kvasir.cli.option.DeclaredOptions;
import io.kvasir.cli.option.Heading;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.option.Values;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.LogFile;
import io.kvasir.gateway.observe.AccessLog;
import io.kvasir.gateway.observe.TrafficRecording;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;

/** Options of what a gateway writes about requests: its access log, traces and a recording. */
@Heading(value = Heading.GATEWAY, block = Block.OBSERVABILITY)
final class ServeOutputs extends DeclaredOptions {

  private static final int DEFAULT_RECORD_MB = 4096;

  private final Declared<String> accessLog =
      text("--access-log", "FILE", "-")
          .help(37, "A JSON line for each request: a file, - for standard output, or none");

  private final Declared<String> traces =
      text(ExportedTraces.OPTION, "URL", null)
          .help(
              37,
              "A collector that receives the spans of requests, by OTLP over HTTP, such as"
                  + " http://localhost:4318/v1/traces (default: none).");

  private final Declared<Path> record =
      path("--record")
          .help(
              37,
              "Record the served requests, by the names of their blocks and without text, and the"
                  + " engines' block events, for replay --recording; an existing file is replaced"
                  + " (default: none).");

  private final Declared<Integer> recordMax =
      integer("--record-max-mb", null, 1, 1 << 20)
          .help(37, "Size at which the recording ends (default: 4096).");

  /** The spans of requests, where they go somewhere. */
  ExportedTraces traces() {
    return traces.isGiven() ? ExportedTraces.to(traces.value()) : ExportedTraces.none();
  }

  /**
   * Opens the recording.
   *
   * @throws UsageException if it cannot be opened
   */
  TrafficRecording openRecording() {
    if (!record.isGiven()) {
      if (recordMax.isGiven()) {
        throw new UsageException("--record-max-mb", "needs --record");
      }
      return TrafficRecording.NONE;
    }
    try {
      return TrafficRecording.open(
          record.value(), (long) recordMax.orElse(DEFAULT_RECORD_MB) << 20);
    } catch (IOException e) {
      throw new UsageException("--record", "cannot be opened: " + Errors.reason(e));
    }
  }

  /**
   * Opens the access log.
   *
   * @param console has standard output
   * @throws UsageException if it cannot be opened
   */
  OutputStream openLog(Console console) throws IOException {
    if (accessLog.value().equals("none")) {
      return AccessLog.NOWHERE;
    }
    if (accessLog.value().equals("-")) {
      return new OutputStream() {
        @Override
        public void write(int b) throws IOException {
          console.out().write(b);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
          console.out().write(bytes, from, length);
        }

        @Override
        public void flush() throws IOException {
          console.out().flush();
        }
      };
    }
    Path file = Values.path("--access-log", accessLog.value());
    try {
      return new LogFile(file);
    } catch (IOException | RuntimeException e) {
      throw new UsageException("--access-log", "cannot be opened: " + Errors.reason(e));
    }
  }
}
