package io.kvasir.tokens.chat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a template renders. Immutable by contract: the values are not copied and must not be
 * changed.
 *
 * @param messages the messages, with their contents as lists of parts or as texts
 * @param tools the tools; null if there are none
 * @param documents the documents; null if there are none
 * @param variables further variables of the template
 * @param addGenerationPrompt whether the answer's beginning is added
 * @param continueFinalMessage whether the answer goes on with the last message
 */
public record ChatInput(
    List<Map<String, Object>> messages,
    @Nullable List<Object> tools,
    @Nullable Object documents,
    Map<String, Object> variables,
    boolean addGenerationPrompt,
    boolean continueFinalMessage) {

  /**
   * {@return the variables of the template}
   *
   * @param specialTokens the model's own, for example {@code bos_token}
   */
  public Map<String, @Nullable Object> context(Map<String, ?> specialTokens) {
    Map<String, @Nullable Object> context = new HashMap<>(specialTokens);
    context.putAll(variables);
    context.put("messages", messages);
    context.put("tools", tools);
    context.put("documents", documents);
    context.put("add_generation_prompt", addGenerationPrompt);
    return context;
  }

  /**
   * Cuts a rendered text behind the last message if the answer goes on with it, as transformers
   * does.
   *
   * @param text the rendered text
   * @return the text up to the end of the last message's content
   * @throws UnclearRequestException if the text does not have the content
   */
  public String cut(String text) throws UnclearRequestException {
    if (!continueFinalMessage) {
      return text;
    }
    String last = lastText();
    String core = Text.strip(last);
    int at = core.isEmpty() ? -1 : Text.lastIndexOf(text, core);
    if (at < 0) {
      throw new UnclearRequestException("the last message is not in the rendered text");
    }
    String whole = last.substring(last.indexOf(core)); // without blanks in front
    int end = at + (whole.equals(last) && text.startsWith(whole, at) ? whole : core).length();
    return text.substring(0, end);
  }

  private String lastText() throws UnclearRequestException {
    Object content = messages.isEmpty() ? null : messages.get(messages.size() - 1).get("content");
    if (content instanceof String text) {
      return text;
    }
    if (content instanceof List<?> parts
        && !parts.isEmpty()
        && parts.get(parts.size() - 1) instanceof Map<?, ?> part
        && part.get("text") instanceof String text) {
      return text;
    }
    throw new UnclearRequestException("the last message has no text");
  }
}
