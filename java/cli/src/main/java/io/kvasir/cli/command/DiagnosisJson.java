package io.kvasir.cli.command;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import io.kvasir.engine.device.CudaDevice;
import io.kvasir.engine.device.DeviceSelection;
import io.kvasir.engine.device.KernelModule;
import io.kvasir.engine.device.NativeLibrary;
import io.kvasir.engine.device.NvmlDevice;
import io.kvasir.engine.device.Unavailability;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/** Writes a diagnosis as JSON. Unknown values are null. */
final class DiagnosisJson {

  private static final JsonFactory JSON =
      JsonFactory.builder().disable(StreamWriteFeature.AUTO_CLOSE_TARGET).build();

  private final JsonGenerator json;

  private DiagnosisJson(JsonGenerator json) {
    this.json = json;
  }

  static void write(Diagnosis diagnosis, OutputStream out) throws IOException {
    try (JsonGenerator generator = JSON.createGenerator(out)) {
      generator.useDefaultPrettyPrinter();
      new DiagnosisJson(generator).writeAll(diagnosis);
      generator.writeRaw('\n');
    }
  }

  private void writeAll(Diagnosis diagnosis) throws IOException {
    json.writeStartObject();
    json.writeStringField("kvasir", diagnosis.kvasir());
    writeJava(diagnosis.java());
    writeLibrary(diagnosis.library());
    writeModule(diagnosis.module());
    json.writeObjectFieldStart("cuda");
    writeUsable(diagnosis.cudaFailure());
    json.writeObjectField(
        "version",
        diagnosis.cudaVersion().isPresent()
            ? KernelModule.versionText(diagnosis.cudaVersion().getAsInt())
            : null);
    json.writeArrayFieldStart("devices");
    for (Diagnosis.Device device : diagnosis.devices()) {
      writeDevice(device);
    }
    json.writeEndArray();
    json.writeEndObject();
    json.writeObjectFieldStart("nvml");
    writeUsable(diagnosis.nvmlFailure());
    json.writeStringField("driverVersion", diagnosis.nvmlDriverVersion().orElse(null));
    json.writeEndObject();
    json.writeObjectFieldStart("environment");
    for (Map.Entry<String, String> variable : diagnosis.variables().entrySet()) {
      json.writeStringField(variable.getKey(), variable.getValue());
    }
    json.writeEndObject();
    json.writeObjectFieldStart("auto");
    DeviceSelection.Resolution auto = diagnosis.auto();
    json.writeStringField("device", auto.devices().isEmpty() ? "cpu" : "cuda");
    json.writeArrayFieldStart("ordinals");
    for (CudaDevice device : auto.devices()) {
      json.writeNumber(device.ordinal());
    }
    json.writeEndArray();
    json.writeStringField("reason", auto.fallback().map(Unavailability::reason).orElse(null));
    json.writeEndObject();
    json.writeStringField("verdict", diagnosis.verdict());
    json.writeEndObject();
  }

  private void writeJava(Properties java) throws IOException {
    json.writeObjectFieldStart("java");
    json.writeStringField("version", java.getProperty("java.version"));
    json.writeStringField("vendor", java.getProperty("java.vendor"));
    json.writeStringField("os", java.getProperty("os.name"));
    json.writeStringField("arch", java.getProperty("os.arch"));
    json.writeEndObject();
  }

  private void writeLibrary(NativeLibrary library) throws IOException {
    json.writeObjectFieldStart("nativeLibrary");
    writeUsable(library.unavailability());
    json.writeStringField("path", library.path().orElse(null));
    json.writeObjectField("abi", library.abi().isPresent() ? library.abi().getAsInt() : null);
    json.writeEndObject();
  }

  private void writeModule(Optional<KernelModule> module) throws IOException {
    json.writeObjectFieldStart("kernelModule");
    writeUsable(module.isPresent() ? Optional.empty() : Optional.of(KernelModule.ABSENT));
    if (module.isPresent()) {
      json.writeNumberField("abi", module.get().abi());
      json.writeNumberField("bytes", module.get().bytes());
      json.writeStringField("cudaVersion", module.get().cudaVersion());
      json.writeArrayFieldStart("architectures");
      for (String architecture : module.get().architectures()) {
        json.writeString(architecture);
      }
      json.writeEndArray();
      json.writeStringField("ptxArchitecture", module.get().ptxArchitecture());
    }
    json.writeEndObject();
  }

  private void writeDevice(Diagnosis.Device device) throws IOException {
    CudaDevice cuda = device.cuda();
    json.writeStartObject();
    json.writeNumberField("ordinal", cuda.ordinal());
    writeUsable(device.obstacle());
    json.writeStringField("name", cuda.name());
    json.writeStringField("uuid", cuda.uuid());
    json.writeStringField("pciBusId", cuda.pciBusId());
    json.writeStringField("architecture", cuda.architecture());
    json.writeBooleanField("migInstance", cuda.isMigInstance());
    json.writeNumberField("totalBytes", cuda.totalBytes());
    json.writeObjectField(
        "freeBytes", device.freeBytes().isPresent() ? device.freeBytes().getAsLong() : null);
    json.writeObjectField("numaNode", cuda.numaNode() < 0 ? null : cuda.numaNode());
    if (device.nvml().isPresent()) {
      writeCounters(device.nvml().get());
    } else {
      json.writeNullField("nvml");
    }
    json.writeArrayFieldStart("peers");
    for (Diagnosis.Peer peer : device.peers()) {
      json.writeStartObject();
      json.writeNumberField("ordinal", peer.ordinal());
      json.writeStringField("topology", peer.topology().orElse(null));
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  private void writeCounters(NvmlDevice nvml) throws IOException {
    json.writeObjectFieldStart("nvml");
    json.writeObjectField(
        "utilizationPercent",
        nvml.utilizationPercent().isPresent() ? nvml.utilizationPercent().getAsInt() : null);
    json.writeObjectField(
        "uncorrectedEccErrors",
        nvml.uncorrectedEccErrors().isPresent() ? nvml.uncorrectedEccErrors().getAsLong() : null);
    json.writeStringField("rowRemapping", nvml.rowRemapping().orElse(null));
    json.writeObjectField("migEnabled", nvml.migEnabled().orElse(null));
    json.writeEndObject();
  }

  private void writeUsable(Optional<Unavailability> failure) throws IOException {
    json.writeBooleanField("usable", failure.isEmpty());
    if (failure.isPresent()) {
      json.writeStringField("reason", failure.get().reason());
      json.writeStringField("remedy", failure.get().remedy());
    }
  }
}
