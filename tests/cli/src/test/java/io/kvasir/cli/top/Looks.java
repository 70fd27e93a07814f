package io.kvasir.cli.top;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** Answers of a gateway for tests; single quotes stand for double ones. */
final class Looks {

  private Looks() {}

  static JsonNode json(String text) {
    try {
      return new ObjectMapper().readTree(text.replace('\'', '"'));
    } catch (IOException e) {
      throw new AssertionError(text, e);
    }
  }

  /** A look at a gateway that has no worker, by its metrics. */
  static Look counters(int atSeconds, String... metrics) {
    return new Look(
        TimeUnit.SECONDS.toNanos(atSeconds),
        json("[]"),
        json("[]"),
        json("[]"),
        Metrics.of(String.join("\n", metrics)));
  }

  static Look of(String workers, String ranks, String decisions, String metrics) {
    return new Look(0, json(workers), json(ranks), json(decisions), Metrics.of(metrics));
  }
}
