package io.kvasir.gateway.worker;

import io.kvasir.exchange.EngineFlavor;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Which requests can name their rank, and how: by flavor, version, endpoint and load balancing. The
 * rows and their sources are in {@code steering.txt} next to this class.
 *
 * <p>Immutable and thread-safe. A look-up is O(rows).
 */
public final class SteeringTable {

  private static final SteeringTable STANDARD = load();
  private static final String ANY = "*";
  private static final int COLUMNS = 7;

  private final List<Row> rows;

  /** A row; a null means any. */
  private record Row(
      EngineFlavor flavor,
      @Nullable EngineVersion from,
      @Nullable EngineVersion before,
      @Nullable String endpoint,
      @Nullable LoadBalancing balancing,
      Steering steering) {

    boolean fits(EngineFlavor engine, @Nullable EngineVersion version, LoadBalancing lb) {
      return flavor == engine
          && (balancing == null || balancing == lb)
          && (version == null
              || ((from == null || version.compareTo(from) >= 0)
                  && (before == null || version.compareTo(before) < 0)));
    }
  }

  private SteeringTable(List<Row> rows) {
    this.rows = List.copyOf(rows);
  }

  /** {@return the table of the engines that are known} */
  public static SteeringTable standard() {
    return STANDARD;
  }

  private static SteeringTable load() {
    try (InputStream in = SteeringTable.class.getResourceAsStream("steering.txt")) {
      if (in == null) {
        throw new IllegalStateException("steering.txt is missing next to its class");
      }
      return parse(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads a table.
   *
   * @param text its rows, one a line; lines that begin with # are comments
   * @return the table
   * @throws IllegalArgumentException naming the row that is wrong
   */
  static SteeringTable parse(String text) {
    List<Row> rows = new ArrayList<>();
    for (String line : text.lines().map(String::strip).toList()) {
      if (!line.isEmpty() && !line.startsWith("#")) {
        try {
          rows.add(row(line.split("\\s*\\|\\s*", -1)));
        } catch (IllegalArgumentException e) {
          throw new IllegalArgumentException("row '" + line + "': " + e.getMessage(), e);
        }
      }
    }
    return new SteeringTable(rows);
  }

  private static Row row(String[] cells) {
    if (cells.length != COLUMNS || cells[COLUMNS - 1].isEmpty()) {
      throw new IllegalArgumentException("must have " + COLUMNS + " cells, the last a source");
    }
    boolean global =
        switch (cells[5]) {
          case "global" -> true;
          case "local" -> false;
          default -> throw new IllegalArgumentException("ranks must be global or local");
        };
    Steering steering =
        switch (cells[4]) {
          case "header" -> new Steering(true, null, global);
          case "both" -> new Steering(true, "routed_dp_rank", global);
          case "none" -> Steering.NONE;
          default -> {
            if (!cells[4].startsWith("body ")) {
              throw new IllegalArgumentException("unknown mechanism " + cells[4]);
            }
            yield new Steering(false, cells[4].substring("body ".length()).strip(), global);
          }
        };
    String versions = cells[1];
    return new Row(
        EngineFlavor.valueOf(cells[0].toUpperCase(Locale.ROOT)),
        versions.startsWith(">=") ? version(versions.substring(2)) : null,
        versions.startsWith("<") ? version(versions.substring(1)) : null,
        cells[2].equals(ANY) ? null : cells[2],
        cells[3].equals(ANY) ? null : LoadBalancing.valueOf(cells[3].toUpperCase(Locale.ROOT)),
        steering);
  }

  private static EngineVersion version(String text) {
    EngineVersion version = EngineVersion.parse(text.strip());
    if (version == null) {
      throw new IllegalArgumentException("not a version: " + text);
    }
    return version;
  }

  /**
   * How requests to an endpoint name their rank: by the first row that fits. An unknown version
   * fits every row, so that it counts as the newest.
   *
   * @param flavor the kind of engine
   * @param version its version; null if unknown
   * @param endpoint the path, for example {@code /v1/completions}
   * @param balancing how ranks share URLs
   * @return the steering; {@link Steering#NONE} if no row fits
   */
  public Steering find(
      EngineFlavor flavor,
      @Nullable EngineVersion version,
      String endpoint,
      LoadBalancing balancing) {
    for (Row row : rows) {
      if (row.fits(flavor, version, balancing)
          && (row.endpoint == null || row.endpoint.equals(endpoint))) {
        return row.steering;
      }
    }
    return Steering.NONE;
  }

  /**
   * Whether any request of an engine can name its rank.
   *
   * @param flavor the kind of engine
   * @param version its version; null if unknown
   * @param balancing how ranks share URLs
   * @return whether a row says so
   */
  public boolean steers(
      EngineFlavor flavor, @Nullable EngineVersion version, LoadBalancing balancing) {
    for (Row row : rows) {
      if (row.fits(flavor, version, balancing)) {
        if (row.steering.steers()) {
          return true;
        }
        if (row.endpoint == null) {
          return false; // it hides the rows behind it
        }
      }
    }
    return false;
  }
}
