package io.kvasir.cli.command;

import io.kvasir.cli.option.FormatOption;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.cli.terminal.Machine;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code kvasir doctor}: the parts of this machine that Kvasir can use. */
@Command(
    name = "doctor",
    description = {
      "Shows Java, the native library, the GPU kernels, the CUDA driver, its devices and NVML of"
          + " this machine, and whether Kvasir can run here. For each part that cannot be used, shows"
          + " the reason and the remedy. Parts for GPUs are optional.",
      ""
    },
    footer = {"", "Exit codes: 0 done, 1 Kvasir cannot run here, 2 wrong usage."})
final class DoctorCommand implements Callable<Integer> {

  private final Console console;
  private final Machine machine;

  @Mixin private FormatOption format;

  DoctorCommand(Console console, Machine machine) {
    this.console = console;
    this.machine = machine;
  }

  @Override
  public Integer call() throws Exception {
    boolean text = format.isText();
    Diagnosis diagnosis =
        Diagnosis.of(BuildVersion.read().version(), machine, console.environment());
    if (text) {
      console.print(DiagnosisText.of(diagnosis));
    } else {
      console.write(stream -> DiagnosisJson.write(diagnosis, stream));
    }
    return diagnosis.library().unavailability().isEmpty() ? ExitCode.DONE : ExitCode.FAILED;
  }
}
