package io.kvasir;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The imports between packages that are allowed, as package-edges.txt lists them: a line for each
 * package, with an arrow and what it uses. A line that begins with a space goes on with the one
 * before it. Names are without {@code io.kvasir}.
 */
final class PackageEdges {

  private static final String FILE = "/package-edges.txt";
  private static final String ARROW = " ->";
  private static final Map<String, Set<String>> ALL = read();

  private PackageEdges() {}

  /** Each package and the packages that it uses, in the order of names. */
  static Map<String, Set<String>> all() {
    return Collections.unmodifiableMap(ALL);
  }

  /** Whether a package is listed. */
  static boolean isListed(String name) {
    return ALL.containsKey(name);
  }

  /** The packages that a listed one uses. */
  static Set<String> usedBy(String name) {
    return ALL.getOrDefault(name, Set.of());
  }

  private static Map<String, Set<String>> read() {
    Map<String, Set<String>> edges = new TreeMap<>();
    Set<String> used = new TreeSet<>();
    for (String line : text().split("\n", -1)) {
      String targets = line;
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      }
      if (!line.startsWith(" ")) {
        int arrow = line.indexOf(ARROW);
        used = new TreeSet<>();
        edges.put(line.substring(0, arrow), used);
        targets = line.substring(arrow + ARROW.length());
      }
      for (String target : targets.split(" ", -1)) {
        if (!target.isEmpty()) {
          used.add(target);
        }
      }
    }
    return edges;
  }

  private static String text() {
    try (InputStream in = PackageEdges.class.getResourceAsStream(FILE)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
