package io.kvasir.cli.option;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * The list of options in help. A long list is divided by the {@link Heading} of the class that
 * declares each option, in the order of their first options. Stateless.
 */
public final class HeadedOptions implements CommandLine.IHelpSectionRenderer {

  /** Most options that need no headings. */
  private static final int MAX_PLAIN = 25;

  private HeadedOptions() {}

  /**
   * Sets this list in the help of a command and its subcommands.
   *
   * @param command the command
   */
  public static void in(CommandLine command) {
    Map<String, CommandLine.IHelpSectionRenderer> sections =
        new LinkedHashMap<>(command.getHelpSectionMap());
    sections.put(UsageMessageSpec.SECTION_KEY_OPTION_LIST, new HeadedOptions());
    command.setHelpSectionMap(sections);
  }

  @Override
  public String render(Help help) {
    List<OptionSpec> options =
        help.commandSpec().options().stream()
            .filter(option -> !option.hidden())
            .sorted(Comparator.comparingInt(OptionSpec::order))
            .toList();
    if (options.size() <= MAX_PLAIN) {
      return help.optionList();
    }
    Map<String, List<OptionSpec>> byHeading = new LinkedHashMap<>();
    for (OptionSpec option : options) {
      byHeading.computeIfAbsent(heading(option), heading -> new ArrayList<>()).add(option);
    }
    StringBuilder text = new StringBuilder();
    byHeading.forEach(
        (heading, own) -> {
          // Made with all options, so that every part has the same columns.
          Help.Layout layout = help.createDefaultLayout(options, List.of(), help.colorScheme());
          own.forEach(option -> layout.addOption(option, help.parameterLabelRenderer()));
          text.append(text.isEmpty() ? "" : System.lineSeparator());
          text.append(heading).append(':').append(System.lineSeparator()).append(layout);
        });
    return text.toString();
  }

  private static String heading(OptionSpec option) {
    Class<?> declaring =
        option.userObject() instanceof Field field
            ? field.getDeclaringClass()
            : option.userObject() instanceof DeclaredValues values ? values.declaring() : null;
    Heading heading = declaring == null ? null : declaring.getAnnotation(Heading.class);
    return heading == null ? Heading.GENERAL : heading.value();
  }
}
