package io.kvasir;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every link within the documents leads to a file of the repository, and to a heading of it. */
@Tag("documents")
class DocumentLinksTest {

  private static final Path ROOT =
      Path.of(Objects.requireNonNull(System.getProperty("kvasir.root")));
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)|src=\"([^\"]+)\"");
  private static final Pattern HEADING = Pattern.compile("^#{1,6} +(.*)$");

  private final Map<Path, Set<String>> headings = new HashMap<>();

  private static List<Path> documents() throws IOException {
    List<Path> documents = new ArrayList<>();
    for (String folder : List.of(".", "docs", "examples", ".github")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(folder), folder.equals(".") ? 1 : 9)) {
        files
            .filter(file -> file.toString().endsWith(".md"))
            .filter(file -> !file.toString().contains("/target/"))
            .map(Path::normalize)
            .forEach(documents::add);
      }
    }
    return documents;
  }

  /** The lines of a document outside its blocks of code. */
  private static List<String> prose(Path document) throws IOException {
    List<String> lines = new ArrayList<>();
    boolean code = false;
    for (String line : Files.readAllLines(document)) {
      if (line.strip().startsWith("```")) {
        code = !code;
      } else if (!code) {
        lines.add(line);
      }
    }
    return lines;
  }

  private Set<String> headings(Path document) throws IOException {
    Set<String> known = headings.get(document);
    if (known == null) {
      known = new HashSet<>();
      for (String line : prose(document)) {
        Matcher heading = HEADING.matcher(line);
        if (heading.matches()) {
          known.add(slug(heading.group(1)));
        }
      }
      headings.put(document, known);
    }
    return known;
  }

  /** The anchor that GitHub gives a heading. */
  private static String slug(String heading) {
    return heading
        .strip()
        .replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1")
        .toLowerCase(Locale.ROOT)
        .replaceAll("[^\\p{L}\\p{N} _-]", "")
        .replace(' ', '-');
  }

  @Test
  void everyLinkLeadsSomewhere() throws IOException {
    List<String> dead = new ArrayList<>();
    int links = 0;
    for (Path document : documents()) {
      for (String line : prose(document)) {
        Matcher link = LINK.matcher(line.replaceAll("`[^`]*`", ""));
        while (link.find()) {
          String target = link.group(1) == null ? link.group(2) : link.group(1);
          if (!target.startsWith("http") && !target.startsWith("mailto:")) {
            links++;
            if (!leadsSomewhere(document, target)) {
              dead.add(ROOT.relativize(document) + ": " + target);
            }
          }
        }
      }
    }
    assertThat(dead).isEmpty();
    assertThat(links).isGreaterThan(50);
  }

  private boolean leadsSomewhere(Path document, String target) throws IOException {
    int hash = target.indexOf('#');
    String file = hash < 0 ? target : target.substring(0, hash);
    Path found =
        file.isEmpty()
            ? document
            : Objects.requireNonNull(document.getParent()).resolve(file).normalize();
    if (!found.startsWith(ROOT) || !Files.exists(found)) {
      return false;
    }
    return hash < 0
        || !found.toString().endsWith(".md")
        || headings(found).contains(target.substring(hash + 1));
  }
}
