package io.kvasir.benchmarks.index;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;

/**
 * Writes index measurements as one JSON object. Call times are in nanoseconds.
 *
 * <p>Stateless.
 */
public final class IndexBenchJson {

  private static final JsonFactory JSON =
      JsonFactory.builder().disable(StreamWriteFeature.AUTO_CLOSE_TARGET).build();

  private IndexBenchJson() {}

  /**
   * Writes the document.
   *
   * @param corpus the replayed corpus
   * @param all the measurements, the baseline last
   * @param out the target; not closed
   * @throws IOException if it cannot be written
   */
  public static void write(Corpus corpus, List<IndexFigures> all, OutputStream out)
      throws IOException {
    try (JsonGenerator json =
        JSON.createGenerator(out).setPrettyPrinter(new DefaultPrettyPrinter())) {
      json.writeStartObject();
      write(corpus, json);
      json.writeArrayFieldStart("indexes");
      for (IndexFigures figures : all) {
        write(figures, json);
      }
      json.writeEndArray();
      json.writeEndObject();
    }
    out.write('\n');
  }

  private static void write(Corpus corpus, JsonGenerator json) throws IOException {
    CorpusCounts counts = corpus.counts();
    json.writeObjectFieldStart("corpus");
    json.writeStringField("description", corpus.description());
    json.writeNumberField("workers", counts.workers());
    json.writeNumberField("queries", counts.queries());
    json.writeNumberField("events", counts.changes());
    json.writeNumberField("queryBlocks", counts.queryBlocks());
    json.writeNumberField("storedBlocks", counts.storedBlocks());
    json.writeNumberField("removedBlocks", counts.removedBlocks());
    json.writeNumberField("blockOps", counts.blockOps());
    json.writeNumberField("hashedBlocks", corpus.hashing().blocks());
    json.writeNumberField("hashingNs", corpus.hashing().ns());
    json.writeEndObject();
  }

  private static void write(IndexFigures figures, JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeStringField("index", figures.kind().id());
    json.writeStringField("answers", Long.toHexString(figures.answers()));
    write("oneThread", figures.all(), json);
    write("readsAlone", figures.reads(), json);
    write("writesAlone", figures.writes(), json);
    json.writeArrayFieldStart("deadlines");
    for (DeadlineFigures deadline : figures.deadlines()) {
      write(deadline, json);
    }
    json.writeEndArray();
    json.writeObjectFieldStart("memory");
    json.writeNumberField("memberships", figures.resident().memberships());
    json.writeNumberField("distinctBlocks", figures.resident().distinctBlocks());
    json.writeNumberField("bytes", figures.resident().bytes());
    json.writeNumberField("bytesPerMembership", figures.resident().bytesPerMembership());
    write("oneHolder", figures.oneHolder(), json);
    write("sixteenHolders", figures.sixteenHolders(), json);
    json.writeEndObject();
    json.writeEndObject();
  }

  private static void write(String name, ReplayFigures figures, JsonGenerator json)
      throws IOException {
    json.writeObjectFieldStart(name);
    json.writeNumberField("blockOps", figures.blockOps());
    json.writeNumberField("ns", figures.ns());
    json.writeNumberField("cpuNs", figures.cpuNs());
    json.writeNumberField("blockOpsPerSecond", figures.blockOpsPerSecond());
    json.writeNumberField("blockOpsPerCpuSecond", figures.blockOpsPerCpuSecond());
    write("lookups", figures.lookups(), json);
    write("applies", figures.applies(), json);
    json.writeNumberField("failedChanges", figures.failed());
    json.writeEndObject();
  }

  private static void write(DeadlineFigures figures, JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeNumberField("windowNs", figures.windowNs());
    json.writeNumberField("doneNs", figures.doneNs());
    json.writeNumberField("offeredBlockOpsPerSecond", figures.offered());
    json.writeNumberField("drainedBlockOpsPerSecond", figures.drained());
    json.writeBooleanField("valid", figures.valid());
    json.writeBooleanField("keptUp", figures.keptUp());
    json.writeNumberField("latestWakeNs", figures.latestWakeNs());
    write("lookups", figures.lookups(), json);
    write("answered", figures.answered(), json);
    write("applies", figures.applies(), json);
    write("applied", figures.applied(), json);
    json.writeNumberField("failedChanges", figures.failed());
    json.writeEndObject();
  }

  private static void write(String name, LatencySummary latency, JsonGenerator json)
      throws IOException {
    json.writeObjectFieldStart(name);
    json.writeNumberField("count", latency.count());
    json.writeNumberField("p50", latency.p50());
    json.writeNumberField("p99", latency.p99());
    json.writeNumberField("p999", latency.p999());
    json.writeNumberField("max", latency.max());
    json.writeEndObject();
  }

  private static void write(String name, MembershipMemory memory, JsonGenerator json)
      throws IOException {
    json.writeObjectFieldStart(name);
    json.writeNumberField("holders", memory.holders());
    json.writeNumberField("meanBytes", memory.meanBytes());
    json.writeNumberField("worstBytes", memory.worstBytes());
    json.writeEndObject();
  }
}
