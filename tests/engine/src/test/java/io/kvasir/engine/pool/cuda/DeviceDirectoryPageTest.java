package io.kvasir.engine.pool.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.kvasir.internal.nativelib.PoolLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;

/** Holds {@code docs/device-directory.md} to the code that it describes. */
class DeviceDirectoryPageTest {

  private static final Path ROOT = Path.of(System.getProperty("kvasir.root"));
  private static final Path PAGE = ROOT.resolve("docs/device-directory.md");
  private static final int LARGE = 50_000_000;

  @Test
  void bytesPerBlockAreThoseOfTheLayout() throws IOException {
    long at32 = bytes(LARGE, 32, 1, 1);
    assertThat(documented("(\\d+) bytes per block at 32 tokens"))
        .isEqualTo(Math.round((double) at32 / LARGE))
        .isEqualTo(Math.round((double) (at32 - bytes(LARGE / 2, 32, 1, 1)) / (LARGE / 2)));
    long stateBytes = documented("(\\d+) bytes and 4 for each token");
    for (int tokens : new int[] {1, 16, 32, 64}) {
      assertThat(Math.round((double) bytes(LARGE, tokens, 1, 1) / LARGE))
          .as("%d tokens per block", tokens)
          .isEqualTo(stateBytes + 4L * tokens);
    }
  }

  @Test
  void theTableOfArraysAddsUp() throws IOException {
    long perBlock =
        rows("\\| `\\w+` \\|.*\\| (\\d+) \\|$").stream()
            .mapToLong(row -> Long.parseLong(row.group(1)))
            .sum();
    assertThat(perBlock).isEqualTo(documented("(\\d+) bytes and 4 for each token"));
  }

  @Test
  void bytesPerLeaseAreThoseOfTheLayout() throws IOException {
    int blocks = 64;
    long leases = 1_000_000;
    long perLease = Math.round((double) bytes(1, 1, (int) leases, blocks) / leases);
    assertThat(perLease)
        .isEqualTo(
            documented("(\\d+) bytes for each lease")
                + blocks * documented("(\\d+) for each entry of its block table"));
  }

  @Test
  void everyKernelHasARowThatIsFilled() throws IOException {
    List<String> kernels = new ArrayList<>();
    Pattern kernel = Pattern.compile("extern \"C\" __global__[^{;]*?(kvasir_\\w+)\\(");
    try (Stream<Path> sources = Files.list(ROOT.resolve("native/src/cuda"))) {
      for (Path source : sources.sorted().toList()) {
        kernel.matcher(Files.readString(source)).results().forEach(k -> kernels.add(k.group(1)));
      }
    }
    List<MatchResult> rows =
        rows("\\| `(kvasir_\\w+)` \\|([^|]+)\\|([^|]+)\\|([^|]+)\\|([^|]+)\\|$");
    assertThat(kernels).hasSizeGreaterThan(20);
    assertThat(rows.stream().map(row -> row.group(1)))
        .doesNotHaveDuplicates()
        .containsExactlyInAnyOrderElementsOf(new TreeSet<>(kernels));
    for (MatchResult row : rows) {
      for (int cell = 2; cell <= row.groupCount(); cell++) {
        assertThat(row.group(cell)).as(row.group()).isNotBlank();
      }
    }
  }

  @Test
  void whatItLinksToIsThere() throws IOException {
    for (MatchResult link : rows("\\]\\(([^)#]+)")) {
      Path target = PAGE.resolveSibling(link.group(1));
      assertThat(target).exists();
      if (target.toString().endsWith(".svg")) {
        assertThatCode(
                () ->
                    DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(target.toFile()))
            .as(link.group(1))
            .doesNotThrowAnyException();
      }
    }
  }

  private static long bytes(int blocks, int tokens, int leases, int blocksPerLease) {
    return PoolLibrary.kvasir_device_pool_bytes(blocks, tokens, leases, blocksPerLease, 0);
  }

  /** The number that the page gives in some words, wherever lines are broken. */
  private static long documented(String words) throws IOException {
    String text = Files.readString(PAGE).replaceAll("\\s+", " ").replace("**", "");
    List<MatchResult> found = Pattern.compile(words).matcher(text).results().toList();
    assertThat(found).as(words).hasSize(1);
    return Long.parseLong(found.get(0).group(1));
  }

  private static List<MatchResult> rows(String row) throws IOException {
    return Pattern.compile(row, Pattern.MULTILINE)
        .matcher(Files.readString(PAGE))
        .results()
        .toList();
  }
}
