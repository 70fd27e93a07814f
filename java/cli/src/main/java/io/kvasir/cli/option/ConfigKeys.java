package io.kvasir.cli.option;

import io.kvasir.model.Errors;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The keys of the file that {@code --config} of a command names: its options, at the top level or
 * in a block. They are made of the declarations of the options. Immutable.
 */
public final class ConfigKeys {

  private final String command;
  private final Map<String, OptionSpec> options = new LinkedHashMap<>();
  private final Map<String, OptionSpec> lists = new LinkedHashMap<>();
  private final Map<Block, List<String>> inBlocks = new EnumMap<>(Block.class);

  private ConfigKeys(CommandSpec command) {
    this.command = command.qualifiedName();
    Object user = command.userObject();
    boolean all = user != null && user.getClass().isAnnotationPresent(InBlocks.class);
    for (OptionSpec option : sorted(command)) {
      String key = Settings.key(option.longestName());
      Block stated = Block.of(option);
      Block block = all || stated == Block.ATTENTION_DP ? stated : Block.TOP;
      options.put(key, option);
      inBlocks.computeIfAbsent(block, any -> new ArrayList<>()).add(key);
      if (block.isList()) {
        lists.put(block.key(), option);
      }
    }
  }

  private static List<OptionSpec> sorted(CommandSpec command) {
    return command.options().stream()
        .filter(option -> option.arity().max() > 0 && !option.hidden())
        .filter(option -> !option.longestName().equals(Settings.CONFIG))
        .sorted(Comparator.comparingInt(OptionSpec::order))
        .toList();
  }

  /**
   * {@return the keys of a command}
   *
   * @param command a command with {@link Settings}
   */
  public static ConfigKeys of(CommandSpec command) {
    return new ConfigKeys(command);
  }

  /** The options by their keys at the top level, in the order of the help. */
  Map<String, OptionSpec> options() {
    return options;
  }

  /** The options by the blocks that are their lists. */
  Map<String, OptionSpec> lists() {
    return lists;
  }

  /**
   * {@return the keys of options by the only block in which each may stand, in the order of the
   * help; those of {@link Block#TOP} may stand in none}
   */
  public Map<Block, List<String>> inBlocks() {
    return new EnumMap<>(inBlocks);
  }

  /** The block of a key of the file; null if it is none. */
  @Nullable Block block(String key) {
    return inBlocks.keySet().stream()
        .filter(block -> block != Block.TOP && !block.isList() && block.key().equals(key))
        .findFirst()
        .orElse(null);
  }

  /** The option of a key within a block; null if there is none. */
  @Nullable OptionSpec option(String key, Block block) {
    if (block != Block.TOP) {
      return keys(block).contains(key) ? options.get(key) : null;
    }
    OptionSpec option = options.get(key);
    return option == null ? lists.get(key) : option;
  }

  private List<String> keys(Block block) {
    return inBlocks.getOrDefault(block, List.of());
  }

  /**
   * The error about a key that has no place where it stands.
   *
   * @param key the key
   * @param block where it stands
   */
  String refusal(String key, Block block) {
    if (block != Block.TOP) {
      if (options.containsKey(key)) {
        return "key '%s' belongs outside %s, %s"
            .formatted(Errors.shown(key), block.key(), place(key));
      }
      if (!key.equals(block.key()) && blockKeys().contains(key)) {
        return "block '%s' belongs outside %s, at the top level of the file"
            .formatted(key, block.key());
      }
    }
    return "unknown key '%s'%s%s; keys are the options of '%s --help', with underscores"
        .formatted(
            Errors.shown(key),
            block == Block.TOP ? "" : " in " + block.key(),
            question(key, block),
            command);
  }

  /** Where a key may stand, for one that stands in a wrong block. */
  private String place(String key) {
    Block block = blockOf(key);
    return block == Block.TOP
        ? "at the top level of the file"
        : block.isList()
            ? "as " + block.key() + " at the top level of the file"
            : "in " + block.key() + " or at the top level of the file";
  }

  private Block blockOf(String key) {
    return inBlocks.entrySet().stream()
        .filter(each -> each.getValue().contains(key))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElse(Block.TOP);
  }

  /** The question for the closest key: of the same block, or else of another one. */
  private String question(String key, Block block) {
    if (block == Block.TOP) {
      Set<String> known = new LinkedHashSet<>(options.keySet());
      known.addAll(blockKeys());
      return Suggestions.question(key, known);
    }
    String close = Suggestions.closest(key, keys(block));
    if (close != null) {
      return " (did you mean " + close + "?)";
    }
    close = Suggestions.closest(key, options.keySet());
    return close == null ? "" : " (did you mean " + close + ", " + place(close) + "?)";
  }

  /** The question for the block of a name close to that of an option without a mapping. */
  String blockQuestion(String key) {
    return Suggestions.question(key, blockKeys());
  }

  private Collection<String> blockKeys() {
    return inBlocks.keySet().stream().filter(each -> each != Block.TOP).map(Block::key).toList();
  }
}
