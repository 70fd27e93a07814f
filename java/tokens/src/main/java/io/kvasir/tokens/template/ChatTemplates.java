package io.kvasir.tokens.template;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The chat templates of a model's folder and the special tokens that they use, chosen as
 * transformers chooses them: {@code chat_template.jinja} and the files of {@code
 * additional_chat_templates} win over {@code tokenizer_config.json}, which has one template or a
 * list with names.
 *
 * <p>Immutable and thread-safe.
 */
public final class ChatTemplates {

  private static final String DEFAULT = "default";
  private static final String WITH_TOOLS = "tool_use";
  private static final String SUFFIX = ".jinja";
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> SPECIAL_TOKENS =
      List.of(
          "bos_token",
          "eos_token",
          "unk_token",
          "sep_token",
          "pad_token",
          "cls_token",
          "mask_token");

  private final Map<String, JinjaChatTemplate> templates;
  private final Map<String, String> specialTokens;

  private ChatTemplates(
      Map<String, JinjaChatTemplate> templates, Map<String, String> specialTokens) {
    this.templates = Map.copyOf(templates);
    this.specialTokens = Map.copyOf(specialTokens);
  }

  /**
   * Reads and compiles the templates of a folder. Blocks while it reads.
   *
   * @param folder of the model
   * @return the templates
   * @throws IOException if a file cannot be read, or {@code tokenizer_config.json} is not JSON
   * @throws TemplateException if a template is refused
   */
  public static ChatTemplates read(Path folder) throws IOException {
    Path file = folder.resolve("tokenizer_config.json");
    JsonNode config =
        Files.exists(file) ? JSON.readTree(Files.readString(file)) : MissingNode.getInstance();
    Map<String, String> sources = new LinkedHashMap<>();
    if (config.path("chat_template").isTextual()) {
      sources.put(DEFAULT, config.path("chat_template").textValue());
    }
    if (config.path("chat_template").isArray()) {
      for (JsonNode named : config.path("chat_template")) {
        sources.put(named.path("name").asText(), named.path("template").asText());
      }
    }
    Map<String, String> files = files(folder);
    Map<String, String> chosen = files.isEmpty() ? sources : files;
    Path map = folder.resolve("special_tokens_map.json");
    JsonNode further =
        Files.exists(map) ? JSON.readTree(Files.readString(map)) : MissingNode.getInstance();
    Map<String, String> specialTokens = new LinkedHashMap<>();
    for (String name : SPECIAL_TOKENS) {
      JsonNode token = config.has(name) ? config.path(name) : further.path(name);
      JsonNode text = token.isObject() ? token.path("content") : token;
      if (text.isTextual() && !text.textValue().isEmpty()) {
        specialTokens.put(name, text.textValue());
      } else if (token.isMissingNode()) {
        requireUnused(name, chosen.values());
      }
    }
    requireUnused("additional_special_tokens", chosen.values());
    Map<String, JinjaChatTemplate> templates = new LinkedHashMap<>();
    chosen.forEach((name, source) -> templates.put(name, JinjaChatTemplate.compile(source)));
    return new ChatTemplates(templates, specialTokens);
  }

  /** A model's class in transformers can have a token that its files leave out. */
  private static void requireUnused(String name, Collection<String> sources) {
    Pattern word = Pattern.compile("\\b" + name + "\\b");
    if (sources.stream().anyMatch(source -> word.matcher(source).find())) {
      throw new TemplateException(
          TemplateException.Reason.UNSUPPORTED,
          "the template uses " + name + ", which the model's files do not give",
          0,
          0);
    }
  }

  private static Map<String, String> files(Path folder) throws IOException {
    Map<String, String> files = new LinkedHashMap<>();
    Path single = folder.resolve("chat_template.jinja");
    if (Files.exists(single)) {
      files.put(DEFAULT, Files.readString(single));
    }
    Path more = folder.resolve("additional_chat_templates");
    if (Files.isDirectory(more)) {
      try (Stream<Path> listed = Files.list(more)) {
        for (Path path : listed.sorted().toList()) {
          String name = String.valueOf(path.getFileName());
          if (name.endsWith(SUFFIX)) {
            files.put(name.substring(0, name.length() - SUFFIX.length()), Files.readString(path));
          }
        }
      }
    }
    return files;
  }

  /**
   * The template for a request.
   *
   * @param tools whether the request has tools
   * @return the template
   * @throws TemplateException if the folder has none, or several without a default
   */
  public JinjaChatTemplate choose(boolean tools) {
    JinjaChatTemplate chosen = tools ? templates.get(WITH_TOOLS) : null;
    chosen = chosen == null ? templates.get(DEFAULT) : chosen;
    if (chosen == null) {
      throw new TemplateException(
          TemplateException.Reason.UNSUPPORTED,
          templates.isEmpty()
              ? "the model has no chat template"
              : "none of the model's chat templates is the default: " + templates.keySet(),
          0,
          0);
    }
    return chosen;
  }

  /**
   * The special tokens by the names of their variables, such as {@code bos_token}. A template's
   * caller passes them together with {@code messages}.
   *
   * @return the tokens that the model names
   */
  public Map<String, String> specialTokens() {
    return specialTokens;
  }
}
