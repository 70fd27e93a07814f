package io.kvasir.cli.option;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.gateway.worker.WorkerKey;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The JSON schema of the file that {@code --config} of a command names, made of the command's
 * options. It is of draft 7, which the YAML plug-ins of all editors know. It refuses other
 * spellings that {@link ConfigFile} accepts, such as a choice in capitals. Ranges that depend on
 * other options, files and addresses are left to the command. Stateless.
 */
public final class ConfigSchema {

  private static final JsonMapper JSON = new JsonMapper();
  private static final String WORKER = "#/definitions/worker";

  private ConfigSchema() {}

  /**
   * {@return the schema}
   *
   * @param command a command with {@link Settings}
   */
  public static String of(CommandSpec command) {
    ConfigKeys keys = ConfigKeys.of(command);
    ObjectNode schema = JSON.createObjectNode();
    schema.put("$schema", "http://json-schema.org/draft-07/schema#");
    schema.put("title", command.qualifiedName() + " --config FILE");
    ObjectNode properties = mapping(schema);
    keys.options().forEach((key, option) -> properties.set(key, property(option)));
    keys.inBlocks()
        .forEach(
            (block, within) -> {
              if (block.isList()) {
                properties.set(block.key(), reference(within.get(0)));
              } else if (block != Block.TOP) {
                properties.set(block.key(), block(block, within));
              }
            });
    if (keys.options().values().stream().anyMatch(OptionSpec::isMultiValue)) {
      schema.putObject("definitions").set("worker", worker());
    }
    return schema.toPrettyString() + "\n";
  }

  private static ObjectNode block(Block block, List<String> keys) {
    ObjectNode schema = JSON.createObjectNode().put("description", block.description());
    ObjectNode within = mapping(schema);
    schema.putArray("type").add("object").add("null");
    keys.forEach(key -> within.set(key, reference(key)));
    return schema;
  }

  private static ObjectNode reference(String key) {
    return JSON.createObjectNode().put("$ref", "#/properties/" + key);
  }

  /** Makes a schema that of a mapping, and returns the place of its keys. */
  private static ObjectNode mapping(ObjectNode schema) {
    schema.put("type", "object").put("additionalProperties", false);
    return schema.putObject("properties");
  }

  private static ObjectNode property(OptionSpec option) {
    ObjectNode property = JSON.createObjectNode();
    property.put("description", description(option));
    if (!ConfigFile.takesList(option) && !ConfigFile.takesMapping(option)) {
      property.setAll(scalar(option, true));
    } else {
      ArrayNode forms = property.putArray("anyOf");
      forms.add(scalar(option, false)); // "a,b"
      if (ConfigFile.takesList(option)) {
        ObjectNode items = forms.addObject().put("type", "array").putObject("items");
        if (option.isMultiValue()) {
          items.putArray("anyOf").add(type("string")).addObject().put("$ref", WORKER);
        } else {
          items.setAll(scalar(option, true));
        }
      }
      if (ConfigFile.takesMapping(option)) {
        ObjectNode values = forms.addObject().put("type", "object");
        values
            .putObject("additionalProperties")
            .putArray("type")
            .add("string")
            .add("number")
            .add("boolean");
      }
    }
    String initial = option.defaultValue();
    if (initial != null && !initial.isEmpty()) {
      switch (type(option)) {
        case "boolean" -> property.put("default", Boolean.parseBoolean(initial));
        case "string" -> property.put("default", initial);
        default -> put(property, "default", Double.valueOf(initial));
      }
    }
    return property;
  }

  /** The help of an option, without the default where the schema has one. */
  private static String description(OptionSpec option) {
    String text =
        String.join(" ", option.description()).replace(" (default: ${DEFAULT-VALUE})", "");
    if (option.defaultValue() != null) {
      text = text.replace("${DEFAULT-VALUE}", option.defaultValue());
    }
    return option.completionCandidates() == null
        ? text
        : text.replace(
            "${COMPLETION-CANDIDATES}", String.join(", ", option.completionCandidates()));
  }

  /** The JSON type of a single value, by the label that help shows, as in {@link ConfigFile}. */
  private static String type(OptionSpec option) {
    return switch (option.paramLabel()) {
      case "BOOL" -> "boolean";
      case "X" -> "number";
      case "N" -> least(option) instanceof Double ? "number" : "integer";
      default -> "string";
    };
  }

  private static @Nullable Number least(OptionSpec option) {
    return option.userObject() instanceof DeclaredValues values ? values.least() : null;
  }

  /**
   * A single value.
   *
   * @param one whether it is one value, and no list in the syntax of options
   */
  private static ObjectNode scalar(OptionSpec option, boolean one) {
    String type = type(option);
    ObjectNode value = type(type);
    if (option.paramLabel().equals("MIN-MAX")) {
      value.putArray("type").add("string").add("integer"); // 3-8, or 3
    }
    if (option.completionCandidates() != null && type.equals("string")) {
      boolean closed = option.userObject() instanceof DeclaredValues values && values.closed();
      ArrayNode names = value.putArray(one && closed ? "enum" : "examples");
      option.completionCandidates().forEach(names::add);
    }
    if (option.userObject() instanceof DeclaredValues values
        && values.least() != null
        && values.most() != null) {
      put(value, "minimum", values.least());
      put(value, "maximum", values.most());
    }
    return value;
  }

  private static ObjectNode worker() {
    ObjectNode worker = JSON.createObjectNode();
    ObjectNode properties = mapping(worker);
    properties.set(ConfigEntries.URL, type("string"));
    WorkerKey.all().forEach(key -> properties.set(key.name(), value(key)));
    worker.putArray("required").add(ConfigEntries.URL);
    return worker;
  }

  private static ObjectNode value(WorkerKey key) {
    return switch (key.kind()) {
      case TEXT -> type("string");
      case FLAG -> type("boolean");
      case NUMBER -> type("integer").put("minimum", key.minimum()).put("maximum", key.maximum());
      case PART ->
          type("number").put("exclusiveMinimum", key.minimum()).put("maximum", key.maximum());
      case CHOICE -> {
        ObjectNode value = type("string");
        key.choices().forEach(value.putArray("enum")::add);
        yield value;
      }
      case TEXTS -> {
        ObjectNode value = JSON.createObjectNode();
        ArrayNode forms = value.putArray("anyOf").add(type("string"));
        forms.addObject().put("type", "array").set("items", type("string"));
        yield value;
      }
    };
  }

  private static ObjectNode type(String type) {
    return JSON.createObjectNode().put("type", type);
  }

  /** Writes a number, as an integer where it is one. */
  private static void put(ObjectNode schema, String name, Number number) {
    if (number.doubleValue() == Math.rint(number.doubleValue())) {
      schema.put(name, number.longValue());
    } else {
      schema.put(name, number.doubleValue());
    }
  }
}
