package io.kvasir.tokens.tokenizer;

import io.kvasir.testing.harness.Await;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;

/**
 * A process that opens one tokenizer after the other, without the trial that comes first in
 * production: some files end it. The test starts another one then.
 */
final class OpeningProcess implements AutoCloseable {

  /** How opening a file and tokenizing a text ends. */
  enum Outcome {
    /** With token ids. */
    IDS,
    /** With an exception that names the file. */
    REFUSED,
    /** With an exception of the text. */
    TEXT_REFUSED,
    /** With anything else. */
    FAILED,
    /** The process ends. */
    ENDED,
    /** Not within the time. */
    LATE
  }

  /** How it ended, and the message or the ids. */
  record Answer(Outcome outcome, String message) {}

  /** Within a case of a fuzzer, which may be six times as long. */
  private static final long LONGEST_ANSWER_MS = Await.limit().toMillis() / 2;

  private final Process process;
  private final DataOutputStream requests;
  private final DataInputStream answers;
  private final Timer timer = new Timer("opening", true);

  private OpeningProcess(Process process) {
    this.process = process;
    requests = new DataOutputStream(process.getOutputStream());
    answers = new DataInputStream(process.getInputStream());
  }

  static OpeningProcess start(Path folder) throws IOException {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    List<String> command =
        List.of(
            java,
            "-Xmx1g",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-CreateCoredumpOnCrash",
            "-XX:ErrorFile=/dev/null",
            "-cp",
            System.getProperty("java.class.path"),
            OpeningProcess.class.getName());
    return new OpeningProcess(
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectError(new File("/dev/null"))
            .start());
  }

  /** Opens a file, and tokenizes a text. */
  Answer ask(Path file, String text) {
    boolean[] late = {false};
    TimerTask limit =
        new TimerTask() {
          @Override
          public void run() {
            late[0] = true;
            process.destroyForcibly();
          }
        };
    timer.schedule(limit, LONGEST_ANSWER_MS);
    try {
      requests.writeUTF(file.toString());
      requests.writeUTF(text);
      requests.flush();
      return new Answer(Outcome.valueOf(answers.readUTF()), answers.readUTF());
    } catch (IOException e) {
      return new Answer(late[0] ? Outcome.LATE : Outcome.ENDED, String.valueOf(e.getMessage()));
    } finally {
      limit.cancel();
    }
  }

  @Override
  public void close() {
    timer.cancel();
    process.destroyForcibly();
  }

  /** The process. */
  public static void main(String[] arguments) throws IOException {
    DataInputStream requests = new DataInputStream(System.in);
    DataOutputStream answers = new DataOutputStream(System.out);
    while (true) {
      Path file;
      try {
        file = Path.of(requests.readUTF());
      } catch (EOFException e) {
        return;
      }
      Answer answer = answer(file, requests.readUTF());
      answers.writeUTF(answer.outcome().name());
      answers.writeUTF(answer.message());
      answers.flush();
    }
  }

  /** Opens a file in this process, and tokenizes a text. */
  private static Answer answer(Path file, String text) {
    ModelTokenizer opened;
    try {
      opened = new SegmentedTokenizer(TokenizerFiles.open(file, false), 1 << 16);
    } catch (TokenizerException e) {
      return new Answer(Outcome.REFUSED, String.valueOf(e.getMessage()));
    } catch (Throwable e) {
      return new Answer(Outcome.FAILED, "opening: " + e);
    }
    try (ModelTokenizer tokenizer = opened) {
      return new Answer(Outcome.IDS, Arrays.toString(tokenizer.encode(text, true)));
    } catch (TokenizerException e) {
      return new Answer(Outcome.TEXT_REFUSED, String.valueOf(e.getMessage()));
    } catch (Throwable e) {
      return new Answer(Outcome.FAILED, "tokenizing: " + e);
    }
  }
}
