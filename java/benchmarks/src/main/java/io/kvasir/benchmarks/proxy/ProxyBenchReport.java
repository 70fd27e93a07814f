package io.kvasir.benchmarks.proxy;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Everything that a run of the benchmark measured. Immutable.
 *
 * @param machine the machine, nginx's version and the load when it began
 * @param rounds all rounds; may be empty
 * @param idle the gateway's memory with idle streams; null if that was not measured
 * @param growth the gateway's memory during many requests; null if that was not measured
 */
public record ProxyBenchReport(
    String machine,
    List<ProxyRound> rounds,
    @Nullable IdleMemory idle,
    @Nullable GrowthFigures growth) {

  private static final JsonFactory JSON =
      JsonFactory.builder().disable(StreamWriteFeature.AUTO_CLOSE_TARGET).build();

  /** Copies the list. */
  public ProxyBenchReport {
    rounds = List.copyOf(rounds);
  }

  private boolean matches() {
    return rounds.stream().allMatch(round -> round.matching() != null);
  }

  /** {@return whether all bars are kept; goals do not count} */
  public boolean isKept() {
    for (ProxyMetric metric : ProxyMetric.values()) {
      ProxyBar bar = metric.bar();
      if (!rounds.isEmpty() && bar.required() && !bar.keeps(metric.ratio(rounds).median())) {
        return false;
      }
    }
    return (idle == null || idle.isKept()) && (growth == null || growth.isFlat());
  }

  /**
   * Writes a JSON object. Numbers that are undefined are null.
   *
   * @param out the target; not closed
   * @throws IOException if it cannot be written
   */
  public void writeJson(OutputStream out) throws IOException {
    try (JsonGenerator json =
        JSON.createGenerator(out).setPrettyPrinter(new DefaultPrettyPrinter())) {
      json.writeStartObject();
      json.writeStringField("machine", machine);
      json.writeBooleanField("kept", isKept());
      if (!rounds.isEmpty()) {
        writeRounds(json);
      }
      if (idle != null) {
        json.writeObjectFieldStart("idle");
        json.writeNumberField("streams", idle.streams());
        json.writeNumberField("heapBytesBefore", idle.heapBytesBefore());
        json.writeNumberField("heapBytes", idle.heapBytes());
        json.writeNumberField("residentBytes", idle.residentBytes());
        json.writeBooleanField("cancelled", idle.cancelled());
        json.writeBooleanField("kept", idle.isKept());
        json.writeEndObject();
      }
      if (growth != null) {
        write(growth, json);
      }
      json.writeEndObject();
    }
    out.write('\n');
  }

  private void writeRounds(JsonGenerator json) throws IOException {
    json.writeObjectFieldStart("metrics");
    for (ProxyMetric metric : ProxyMetric.values()) {
      ProxyBar bar = metric.bar();
      RoundSpread ratio = metric.ratio(rounds);
      json.writeObjectFieldStart(metric.id());
      write("nginx", metric.ofProxy(rounds, ProxyRound::nginx), json);
      write("kvasir", metric.ofProxy(rounds, ProxyRound::gateway), json);
      write("ratio", ratio, json);
      if (matches()) {
        write("matching", metric.ofProxy(rounds, ProxyRound::matching), json);
        write("newPrompts", metric.ofProxy(rounds, ProxyRound::newPrompts), json);
      }
      if (rounds.stream().allMatch(round -> round.twoLegs() != null)) {
        write("twoLegs", metric.ofProxy(rounds, ProxyRound::twoLegs), json);
      }
      if (bar.exists()) {
        json.writeStringField("bar", bar.text());
        json.writeBooleanField("kept", bar.keeps(ratio.median()));
      }
      json.writeEndObject();
    }
    json.writeEndObject();
    json.writeArrayFieldStart("rounds");
    for (ProxyRound round : rounds) {
      json.writeStartObject();
      write("direct", round.direct(), json);
      write("nginx", round.nginx(), json);
      write("kvasir", round.gateway(), json);
      if (round.matching() != null && round.newPrompts() != null) {
        write("matching", round.matching(), json);
        write("newPrompts", round.newPrompts(), json);
      }
      if (round.twoLegs() != null) {
        write("twoLegs", round.twoLegs(), json);
      }
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private static void write(String name, RoundSpread spread, JsonGenerator json)
      throws IOException {
    json.writeObjectFieldStart(name);
    number("median", spread.median(), json);
    number("min", spread.min(), json);
    number("max", spread.max(), json);
    json.writeEndObject();
  }

  private static void write(String name, ServerFigures figures, JsonGenerator json)
      throws IOException {
    json.writeObjectFieldStart(name);
    number("cpuUsPerChunk", figures.cpuUsPerChunk(), json);
    number("chunksPerSecond", figures.chunksPerSecond(), json);
    number("chunkUs", figures.chunkUs(), json);
    number("firstByteUs", figures.firstByteUs(), json);
    number("firstByteP99Us", figures.firstByteP99Us(), json);
    number("cpuUsPerStream", figures.cpuUsPerStream(), json);
    number("requestsPerSecond", figures.requestsPerSecond(), json);
    number("cpuUsPerRequest", figures.cpuUsPerRequest(), json);
    json.writeEndObject();
  }

  private static void write(GrowthFigures growth, JsonGenerator json) throws IOException {
    json.writeObjectFieldStart("growth");
    json.writeBooleanField("flat", growth.isFlat());
    json.writeArrayFieldStart("tenths");
    for (GrowthFigures.Tenth tenth : growth.tenths()) {
      json.writeStartObject();
      json.writeNumberField("requests", tenth.requests());
      json.writeNumberField("heapBytes", tenth.heapBytes());
      json.writeNumberField("residentBytes", tenth.residentBytes());
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  private static void number(String name, double value, JsonGenerator json) throws IOException {
    if (Double.isFinite(value)) {
      json.writeNumberField(name, value);
    } else {
      json.writeNullField(name);
    }
  }
}
