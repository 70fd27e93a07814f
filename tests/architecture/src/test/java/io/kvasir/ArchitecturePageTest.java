package io.kvasir;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The layout and the picture of imports in ARCHITECTURE.md are those of the code. */
class ArchitecturePageTest {

  private static final Path ROOT =
      Path.of(Objects.requireNonNull(System.getProperty("kvasir.root")));
  private static final Pattern PACKAGES =
      Pattern.compile("io\\.kvasir((?:\\.\\w+)*)(?:\\.\\{([^}]*)\\})?");

  /** The lines of the first block of code behind a heading. */
  private static List<String> block(String heading) throws IOException {
    String page = Files.readString(ROOT.resolve("ARCHITECTURE.md"));
    int begin = page.indexOf("```\n", page.indexOf("\n" + heading + "\n")) + 4;
    return page.substring(begin, page.indexOf("\n```", begin)).lines().toList();
  }

  @Test
  void theLayoutNamesEveryPackageOfEachModule() throws IOException {
    Map<String, Set<String>> listed = new TreeMap<>();
    for (String line : block("## Layout")) {
      if (line.startsWith("java/")) {
        Set<String> packages = new TreeSet<>();
        Matcher names = PACKAGES.matcher(line);
        while (names.find()) {
          String prefix = names.group(1).isEmpty() ? "" : names.group(1).substring(1);
          if (names.group(2) == null) {
            packages.add(prefix);
          } else {
            for (String room : names.group(2).split(", ", -1)) {
              packages.add(prefix.isEmpty() ? room : prefix + "." + room);
            }
          }
        }
        listed.put(line.substring(0, line.indexOf(' ')), packages);
      }
    }

    Map<String, Set<String>> found = new TreeMap<>();
    try (Stream<Path> files = Files.walk(ROOT.resolve("java"))) {
      files
          .filter(file -> file.endsWith("package-info.java"))
          .map(file -> ROOT.relativize(file.getParent()).toString())
          .filter(folder -> !folder.contains("target"))
          .forEach(
              folder ->
                  found
                      .computeIfAbsent(
                          "java/" + folder.split("/", -1)[1], module -> new TreeSet<>())
                      .add(folder.substring(folder.indexOf("io/kvasir/") + 10).replace('/', '.')));
    }
    assertThat(listed).isEqualTo(found);
  }

  /** Lines of modules are held by ModulesTest. */
  @Test
  void everyArrowOfThePictureIsAnEdge() throws IOException {
    List<String> wrong = new ArrayList<>();
    int arrows = 0;
    String module = "";
    for (String line : block("### Imports")) {
      Matcher named = Pattern.compile("^(\\w+): +").matcher(line);
      if (named.find()) {
        module = named.group(1);
      } else if (!line.startsWith(" ")) {
        continue;
      }
      for (String chain : line.substring(line.indexOf(':') + 1).strip().split(" {3,}", -1)) {
        List<String[]> parts =
            Stream.of(chain.split("<-", -1))
                .map(part -> part.replaceAll("[{} ]", "").split(",", -1))
                .toList();
        for (int i = 1; i < parts.size(); i++) {
          for (String user : parts.get(i)) {
            for (String used : parts.get(i - 1)) {
              arrows++;
              if (!PackageEdges.usedBy(full(module, user)).contains(full(module, used))) {
                wrong.add(user + " does not use " + used);
              }
            }
          }
        }
      }
    }
    assertThat(arrows).isGreaterThan(20);
    assertThat(wrong).isEmpty();
  }

  private static String full(String module, String name) {
    String within = name.equals(module) ? name : module + "." + name;
    return PackageEdges.isListed(within) ? within : name;
  }
}
