package io.kvasir.cli.command;

import io.kvasir.engine.device.CudaDevice;
import io.kvasir.engine.device.KernelModule;
import io.kvasir.engine.device.NativeLibrary;
import io.kvasir.engine.device.NvmlDevice;
import io.kvasir.engine.device.Unavailability;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Writes a diagnosis as text: one name and finding a line, remedies below the findings, and the
 * verdict at the end. A reason that appears again refers to the line that has it.
 */
public final class DiagnosisText {

  private static final int NAME_WIDTH = 25;
  private static final double GIB = 1L << 30;
  private static final String OPTIONAL = " (optional)";
  private static final String NOT_USABLE = "cannot be used: ";

  private final StringBuilder out = new StringBuilder();
  private final Map<Unavailability, String> explained = new HashMap<>();

  private DiagnosisText() {}

  /**
   * {@return the text of a diagnosis}
   *
   * @param diagnosis the diagnosis
   */
  public static String of(Diagnosis diagnosis) {
    DiagnosisText text = new DiagnosisText();
    text.software(diagnosis);
    text.cuda(diagnosis);
    text.line(
        "--device auto",
        diagnosis
            .auto()
            .fallback()
            .map(why -> "takes the CPU: " + text.reason("--device auto", why))
            .orElseGet(
                () ->
                    diagnosis.auto().devices().stream()
                        .map(CudaDevice::label)
                        .collect(Collectors.joining(", ", "takes ", ""))));
    text.out.append('\n').append(diagnosis.verdict()).append('\n');
    return text.out.toString();
  }

  private void software(Diagnosis diagnosis) {
    Properties java = diagnosis.java();
    line("kvasir", diagnosis.kvasir());
    line(
        "java",
        "%s, %s, %s %s"
            .formatted(
                java.getProperty("java.version"),
                java.getProperty("java.vendor"),
                java.getProperty("os.name"),
                java.getProperty("os.arch")));
    NativeLibrary library = diagnosis.library();
    part(
        "native library",
        library.unavailability(),
        () ->
            "ABI %d, loaded from %s"
                .formatted(library.abi().orElseThrow(), library.path().orElse("an unknown path")));
    diagnosis
        .module()
        .ifPresentOrElse(
            module -> line("GPU kernels" + OPTIONAL, module(module)),
            () -> failed("GPU kernels" + OPTIONAL, KernelModule.ABSENT));
  }

  private static String module(KernelModule module) {
    return String.format(
        Locale.ROOT,
        "ABI %d, %,d bytes, CUDA %s, for %s; drivers from CUDA %s on compile %s",
        module.abi(),
        module.bytes(),
        module.cudaVersion(),
        String.join(", ", module.architectures()),
        KernelModule.versionText(KernelModule.OLDEST_DRIVER),
        module.ptxArchitecture());
  }

  private void cuda(Diagnosis diagnosis) {
    part(
        "CUDA driver" + OPTIONAL,
        diagnosis.cudaFailure(),
        () -> "supports CUDA " + KernelModule.versionText(diagnosis.cudaVersion().orElseThrow()));
    diagnosis.devices().forEach(this::device);
    part(
        "NVML" + OPTIONAL,
        diagnosis.nvmlFailure(),
        () -> "NVIDIA driver " + diagnosis.nvmlDriverVersion().orElse("unknown"));
    diagnosis
        .variables()
        .forEach(
            (name, value) ->
                line(name, value == null ? "not set" : value.isEmpty() ? "empty" : value));
  }

  private void device(Diagnosis.Device device) {
    CudaDevice cuda = device.cuda();
    line(
        "  device " + cuda.ordinal(),
        cuda.name() + (cuda.isMigInstance() ? " (MIG instance), " : ", ") + cuda.architecture());
    line("", "uuid " + cuda.uuid() + ", PCI " + cuda.pciBusId() + numa(cuda));
    line(
        "",
        "memory "
            + (device.freeBytes().isPresent()
                ? gib(device.freeBytes().getAsLong()) + " free of "
                : "")
            + gib(cuda.totalBytes()));
    device.nvml().ifPresent(nvml -> line("", counters(nvml)));
    if (!device.peers().isEmpty()) {
      line(
          "",
          "reaches "
              + device.peers().stream().map(DiagnosisText::peer).collect(Collectors.joining(", ")));
    }
    device.obstacle().ifPresent(obstacle -> failed("", "device " + cuda.ordinal(), obstacle));
  }

  private static String numa(CudaDevice cuda) {
    return cuda.numaNode() < 0 ? "" : ", NUMA node " + cuda.numaNode();
  }

  private static String counters(NvmlDevice nvml) {
    List<String> parts = new ArrayList<>();
    nvml.utilizationPercent().ifPresent(percent -> parts.add("utilization " + percent + " %"));
    nvml.uncorrectedEccErrors().ifPresent(errors -> parts.add("uncorrected ECC errors " + errors));
    nvml.rowRemapping().ifPresent(state -> parts.add("row remapping " + state));
    nvml.migEnabled().ifPresent(enabled -> parts.add("MIG " + (enabled ? "enabled" : "disabled")));
    return parts.isEmpty() ? "no counters" : String.join(", ", parts);
  }

  private static String peer(Diagnosis.Peer peer) {
    return "device " + peer.ordinal() + peer.topology().map(way -> " (" + way + ")").orElse("");
  }

  private static String gib(long bytes) {
    return String.format(Locale.ROOT, "%.1f GiB", bytes / GIB);
  }

  private void part(String name, Optional<Unavailability> failure, Supplier<String> found) {
    failure.ifPresentOrElse(reason -> failed(name, reason), () -> line(name, found.get()));
  }

  private void failed(String name, Unavailability failure) {
    failed(name, name.replace(OPTIONAL, ""), failure);
  }

  private void failed(String name, String part, Unavailability failure) {
    boolean repeated = explained.containsKey(failure);
    line(name, NOT_USABLE + reason(part, failure));
    if (!repeated) {
      line("", "-> " + failure.remedy());
    }
  }

  /** The reason, or the part of the machine that it was given for before. */
  private String reason(String part, Unavailability failure) {
    String earlier = explained.putIfAbsent(failure, part);
    return earlier == null ? failure.reason() : "see " + earlier;
  }

  private void line(String name, String found) {
    out.append(String.format(Locale.ROOT, "%-" + NAME_WIDTH + "s%s\n", name, found));
  }
}
