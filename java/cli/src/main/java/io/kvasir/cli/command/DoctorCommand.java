package io.kvasir.cli.command;

import io.kvasir.cli.option.CommonOptions;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.cli.terminal.Machine;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code kvasir doctor}: what this machine has for Kvasir, and what helps where it lacks it. */
@Command(
    name = "doctor",
    description = {
      "Shows what Kvasir finds here: Java, its native library, GPU kernels, CUDA driver, devices and"
          + " NVML; for everything that cannot be used, why not and what helps. Exit code 0 also"
          + " without a GPU.",
      ""
    })
final class DoctorCommand implements Callable<Integer> {

  private final Console console;
  private final Machine machine;

  @Mixin private CommonOptions common;

  DoctorCommand(Console console, Machine machine) {
    this.console = console;
    this.machine = machine;
  }

  @Override
  public Integer call() throws Exception {
    CommonOptions.Format format = common.format();
    Diagnosis diagnosis =
        Diagnosis.of(VersionCommand.kvasirVersion(), machine, console.environment());
    switch (format) {
      case TEXT -> console.print(DiagnosisText.of(diagnosis));
      case JSON -> console.write(stream -> DiagnosisJson.write(diagnosis, stream));
    }
    return ExitCode.DONE;
  }
}
