package io.kvasir.gateway.worker;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The release that an engine names, for example 0.26.0. Pre-releases and builds after a release
 * count as the release that they name. Immutable.
 *
 * @param numbers its parts, at least two
 */
public record EngineVersion(List<Integer> numbers) implements Comparable<EngineVersion> {

  private static final int MAX_CHARACTERS = 100;
  private static final Pattern RELEASE =
      Pattern.compile("v?(\\d{1,8}(?:\\.\\d{1,8}){1,3})(?:(?:\\.dev|\\.post|rc|a|b|\\+|-).*)?");

  /** Copies the list. */
  public EngineVersion {
    numbers = List.copyOf(numbers);
  }

  /**
   * Reads a version.
   *
   * @param text what the engine says; null if it says nothing
   * @return the version; null if the text names no release, as that of a build without tags does
   */
  public static @Nullable EngineVersion parse(@Nullable String text) {
    if (text == null || text.length() > MAX_CHARACTERS) {
      return null;
    }
    Matcher matcher = RELEASE.matcher(text);
    if (!matcher.matches()) {
      return null;
    }
    String release = matcher.group(1);
    if (release.indexOf('.') == release.lastIndexOf('.') && text.contains(".dev")) {
      return null; // 0.1.dev12: made from a source tree without tags
    }
    return new EngineVersion(
        Arrays.stream(release.split("\\.", -1)).map(Integer::parseInt).toList());
  }

  @Override
  public int compareTo(EngineVersion other) {
    for (int i = 0; i < Math.max(numbers.size(), other.numbers.size()); i++) {
      int own = i < numbers.size() ? numbers.get(i) : 0;
      int others = i < other.numbers.size() ? other.numbers.get(i) : 0;
      if (own != others) {
        return Integer.compare(own, others);
      }
    }
    return 0;
  }

  @Override
  public String toString() {
    return String.join(".", numbers.stream().map(String::valueOf).toList());
  }
}
