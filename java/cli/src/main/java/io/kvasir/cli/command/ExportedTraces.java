package io.kvasir.cli.command;

import io.kvasir.cli.option.UsageException;
import io.kvasir.model.Errors;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.bridge.SLF4JBridgeHandler;

/**
 * Sends spans to a collector, in batches and on a thread of its own, by OTLP over HTTP. What a
 * collector does not take is dropped, with a warning: no request waits for it. OpenTelemetry's
 * variables, such as {@code OTEL_SERVICE_NAME} and {@code OTEL_TRACES_SAMPLER}, hold here too.
 *
 * <p>Thread-safe.
 */
final class ExportedTraces implements AutoCloseable {

  /** The option that names the collector. */
  static final String OPTION = "--otlp-traces-endpoint";

  private static final long CLOSE_SECONDS = 5;

  private final @Nullable OpenTelemetrySdk sdk;

  private ExportedTraces(@Nullable OpenTelemetrySdk sdk) {
    this.sdk = sdk;
  }

  /** Sends nothing. */
  static ExportedTraces none() {
    return new ExportedTraces(null);
  }

  /**
   * Prepares to send.
   *
   * @param endpoint receives the spans; without a path at {@code /v1/traces}
   * @throws UsageException if that is no such address, or a variable of OpenTelemetry's is wrong
   */
  static ExportedTraces to(String endpoint) {
    URI address = address(endpoint);
    try {
      return new ExportedTraces(sdk(address));
    } catch (ConfigurationException e) {
      throw new UsageException(
          OPTION, "cannot be used: a variable OTEL_* is wrong: " + Errors.reason(e));
    }
  }

  private static URI address(String endpoint) {
    URI address;
    try {
      address = new URI(endpoint);
    } catch (URISyntaxException e) {
      throw noCollector(endpoint);
    }
    boolean http = "http".equals(address.getScheme()) || "https".equals(address.getScheme());
    if (!http || address.getHost() == null) {
      throw noCollector(endpoint);
    }
    return address.getPath().length() > 1 ? address : address.resolve("/v1/traces");
  }

  private static UsageException noCollector(String endpoint) {
    return new UsageException(
        OPTION,
        "must be where a collector takes OTLP over HTTP, such as http://localhost:4318/v1/traces,"
            + " not '"
            + Errors.shown(endpoint)
            + "'");
  }

  private static OpenTelemetrySdk sdk(URI endpoint) {
    SLF4JBridgeHandler.removeHandlersForRootLogger();
    SLF4JBridgeHandler.install();
    Map<String, String> ours = new HashMap<>();
    ours.put("otel.traces.exporter", "otlp");
    ours.put("otel.exporter.otlp.traces.protocol", "http/protobuf");
    ours.put("otel.exporter.otlp.traces.endpoint", endpoint.toString());
    ours.put("otel.metrics.exporter", "none");
    ours.put("otel.logs.exporter", "none");
    return AutoConfiguredOpenTelemetrySdk.builder()
        .disableShutdownHook()
        .addPropertiesSupplier(() -> Map.of("otel.service.name", "kvasir"))
        .addPropertiesCustomizer(read -> ours)
        .build()
        .getOpenTelemetrySdk();
  }

  /** Where the spans go. */
  OpenTelemetry telemetry() {
    return sdk == null ? OpenTelemetry.noop() : sdk;
  }

  /** Sends the last spans, for at most {@value #CLOSE_SECONDS} seconds. */
  @Override
  public void close() {
    if (sdk != null) {
      sdk.shutdown().join(CLOSE_SECONDS, TimeUnit.SECONDS);
    }
  }
}
