package io.kvasir.benchmarks.index;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import io.kvasir.simulator.report.Numbers;
import io.kvasir.simulator.report.TextTable;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Locale;

/**
 * Formats the results of soaks for people and for machines.
 *
 * <p>Stateless.
 */
public final class SoakReport {

  private static final double NS_PER_S = 1e9;
  private static final double MIB = 1 << 20;
  private static final JsonFactory JSON =
      JsonFactory.builder().disable(StreamWriteFeature.AUTO_CLOSE_TARGET).build();

  private SoakReport() {}

  /**
   * Formats the results for people.
   *
   * @param all the soaks
   * @return lines
   */
  public static String text(List<SoakFigures> all) {
    StringBuilder out = new StringBuilder();
    for (SoakFigures soak : all) {
      out.append(
          String.format(
              Locale.ROOT,
              "%s: %,d block events in %.0f s, %,d workers left or were cleared, %,d answers and all"
                  + " totals exact%n",
              soak.kind().id(),
              soak.blockEvents(),
              soak.ns() / NS_PER_S,
              soak.churned(),
              soak.answers()));
      TextTable table = new TextTable();
      table.row("block events", "memberships", "MiB", "bytes a membership");
      for (SoakCheckpoint checkpoint : soak.checkpoints()) {
        ResidentMemory memory = checkpoint.memory();
        table.row(
            Numbers.count(checkpoint.blockEvents()),
            Numbers.count(memory.memberships()),
            Numbers.measure(memory.bytes() / MIB),
            Numbers.measure(memory.bytesPerMembership()));
      }
      table.appendTo(out);
      out.append(
          String.format(
              Locale.ROOT,
              "memory %s: x %.3f from the second quarter to the last%n",
              soak.isFlat() ? "flat" : "grew",
              soak.growth()));
    }
    return out.toString();
  }

  /**
   * Writes the results as a JSON array with an object for each index.
   *
   * @param all the soaks
   * @param out the target; not closed
   * @throws IOException if it cannot be written
   */
  public static void json(List<SoakFigures> all, OutputStream out) throws IOException {
    try (JsonGenerator json =
        JSON.createGenerator(out).setPrettyPrinter(new DefaultPrettyPrinter())) {
      json.writeStartArray();
      for (SoakFigures soak : all) {
        json.writeStartObject();
        json.writeStringField("index", soak.kind().id());
        json.writeNumberField("blockEvents", soak.blockEvents());
        json.writeNumberField("ns", soak.ns());
        json.writeNumberField("churnedWorkers", soak.churned());
        json.writeNumberField("answers", soak.answers());
        json.writeNumberField("memoryGrowth", soak.growth());
        json.writeBooleanField("memoryFlat", soak.isFlat());
        json.writeArrayFieldStart("checkpoints");
        for (SoakCheckpoint checkpoint : soak.checkpoints()) {
          json.writeStartObject();
          json.writeNumberField("blockEvents", checkpoint.blockEvents());
          json.writeNumberField("memberships", checkpoint.memory().memberships());
          json.writeNumberField("distinctBlocks", checkpoint.memory().distinctBlocks());
          json.writeNumberField("bytes", checkpoint.memory().bytes());
          json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
      }
      json.writeEndArray();
    }
    out.write('\n');
  }
}
