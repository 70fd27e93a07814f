package io.kvasir.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.cli.terminal.Interrupts;
import io.kvasir.gateway.observe.LastResort;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What watches over every server until a signal ends it. */
class UntilSignalTest {

  @Test
  void whileAServerRunsAThreadThatMustLiveEndsTheProcess() throws InterruptedException {
    Console console =
        new Console(
            InputStream.nullInputStream(),
            OutputStream.nullOutputStream(),
            new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8),
            false,
            Map.of());
    Interrupts interrupts = new Interrupts();
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    UntilSignal.serve(
        console,
        interrupts,
        () -> {
          assertThat(Thread.getDefaultUncaughtExceptionHandler()).isInstanceOf(LastResort.class);
          assertThat(interrupts.end()).isEqualTo(ExitCode.DONE);
        },
        () -> 0);
    assertThat(Thread.getDefaultUncaughtExceptionHandler()).isSameAs(before);
  }
}
