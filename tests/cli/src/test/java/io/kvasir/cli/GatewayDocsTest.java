package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.cli.command.EngineCommand;
import io.kvasir.cli.command.ReplayCommand;
import io.kvasir.cli.command.ServeCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The tables in docs/gateway-reference.md have the options of the commands and their defaults.
 * Options that {@code replay} has too are in docs/configuration.md.
 */
@Tag("documents")
class GatewayDocsTest {

  private static final String HEAD = "| option | default | what |\n|---|---|---|\n";
  private static final Pattern DEFAULT = Pattern.compile("^[^(]*\\(default: ([^()]*)\\)\\.$");
  private static final Pattern OPTION = Pattern.compile("(?<![-\\w])--[a-z][a-z-]*");

  private final String page = page();
  private final List<OptionSpec> serve = options(new ServeCommand(null, null, null));
  private final List<OptionSpec> engine = options(new EngineCommand(null, null, null));
  private final List<OptionSpec> replay = options(new ReplayCommand(null, null));

  private static String page() {
    Path root = Path.of(Objects.requireNonNull(System.getProperty("kvasir.root")));
    try {
      StringBuilder pages = new StringBuilder();
      for (String name : List.of("gateway", "engine", "gateway-reference")) {
        pages.append(Files.readString(root.resolve("docs/" + name + ".md"))).append('\n');
      }
      return pages.toString();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void theTablesHaveEveryOptionWithItsDefault() {
    List<OptionSpec> onlyServe = without(serve, engine);
    assertThat(tables())
        .containsExactly(
            rows(without(onlyServe, replay)),
            rows(without(without(serve, onlyServe), replay)),
            rows(without(without(engine, serve), replay)));
  }

  @Test
  void everyOptionOnThePageExists() {
    Set<String> known = new HashSet<>();
    Stream.concat(serve.stream(), engine.stream())
        .forEach(option -> known.addAll(Arrays.asList(option.names())));
    assertThat(OPTION.matcher(page).results().map(MatchResult::group)).isSubsetOf(known);
  }

  private static List<OptionSpec> options(Object command) {
    return new CommandLine(command)
        .getCommandSpec().options().stream()
            .filter(option -> !option.hidden())
            .sorted((a, b) -> Integer.compare(a.order(), b.order()))
            .toList();
  }

  /** The options that are declared elsewhere than the others, which may have the same names. */
  private static List<OptionSpec> without(List<OptionSpec> options, List<OptionSpec> others) {
    Set<Object> fields = others.stream().map(OptionSpec::userObject).collect(Collectors.toSet());
    return options.stream().filter(option -> !fields.contains(option.userObject())).toList();
  }

  private static List<String> rows(List<OptionSpec> options) {
    return options.stream().map(option -> names(option) + " | " + initial(option)).toList();
  }

  private static String names(OptionSpec option) {
    String value = option.arity().max() == 0 ? "" : " " + option.paramLabel();
    List<String> names = new ArrayList<>();
    for (String name : option.names()) {
      names.add(0, "`" + name + value + "`"); // picocli has short names first
    }
    return String.join(", ", names);
  }

  /** The default, or what the help says about it. */
  private static String initial(OptionSpec option) {
    if (option.arity().max() > 0
        && !Objects.requireNonNullElse(option.defaultValue(), "").isEmpty()) {
      return "`" + option.defaultValue() + "`";
    }
    Matcher said = DEFAULT.matcher(String.join(" ", option.description()));
    return said.find() ? said.group(1) : "";
  }

  /** The first two cells of each row of each table. */
  private List<List<String>> tables() {
    List<List<String>> tables = new ArrayList<>();
    for (int at = page.indexOf(HEAD); at >= 0; at = page.indexOf(HEAD, at + 1)) {
      tables.add(
          page.substring(at + HEAD.length())
              .lines()
              .takeWhile(line -> line.startsWith("| "))
              .map(line -> line.substring(2).split(" \\| ", -1))
              .map(cells -> cells[0] + " | " + cells[1].strip())
              .toList());
    }
    return tables;
  }
}
