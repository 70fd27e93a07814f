package io.kvasir.tokens.chat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Makes chats of requests to Anthropic's {@code /v1/messages}, as vLLM does. Stateless. */
final class AnthropicMessages {

  private static final String BILLING = "x-anthropic-billing-header";

  private AnthropicMessages() {}

  static ChatInput read(Map<String, Object> request, boolean parts) throws UnclearRequestException {
    List<Object> messages = new ArrayList<>();
    String system = request.get("system") == null ? "" : system(request.get("system"));
    if (!system.isEmpty()) {
      messages.add(message("system", system));
    }
    for (Object each : JsonFields.list(request, "messages")) {
      add(JsonFields.object("a message", each), messages);
    }
    Map<String, Object> others = new LinkedHashMap<>(request);
    if (request.get("output_config") instanceof Map<?, ?> output && output.get("effort") != null) {
      others.put("reasoning_effort", output.get("effort"));
    }
    Map<String, Object> chat = new LinkedHashMap<>();
    chat.put("messages", messages);
    chat.put("tools", tools(JsonFields.list(request, "tools")));
    return ChatReader.chat(chat, others, parts);
  }

  private static Map<String, Object> message(String role, Object content) {
    Map<String, Object> message = new LinkedHashMap<>();
    message.put("role", role);
    message.put("content", content);
    return message;
  }

  private static String system(Object system) throws UnclearRequestException {
    if (system instanceof String text) {
      return text;
    }
    StringBuilder all = new StringBuilder();
    for (Object each : JsonFields.list("system", system)) {
      Map<String, Object> block = JsonFields.object("a block", each);
      String text = JsonFields.text(block, "text", "");
      if ("text".equals(block.get("type")) && !text.startsWith(BILLING)) {
        all.append(text);
      }
    }
    return all.toString();
  }

  private static void add(Map<String, Object> message, List<Object> messages)
      throws UnclearRequestException {
    String role = JsonFields.text(message, "role", "");
    if (role.equals("system")) {
      throw new UnclearRequestException("a system message among the others");
    }
    if (message.get("content") instanceof String text) {
      messages.add(message(role, text));
      return;
    }
    List<Object> texts = new ArrayList<>();
    List<Object> calls = new ArrayList<>();
    StringBuilder reasoning = new StringBuilder();
    for (Object each : JsonFields.list(message, "content")) {
      Map<String, Object> block = JsonFields.object("a block", each);
      String type = JsonFields.text(block, "type", "");
      switch (type) {
        case "text" -> {
          if (!JsonFields.text(block, "text", "").isEmpty()) {
            texts.add(part(JsonFields.text(block, "text", "")));
          }
        }
        case "thinking" -> reasoning.append(JsonFields.text(block, "thinking", ""));
        case "tool_use" -> calls.add(call(block));
        case "tool_result" -> messages.add(result(role, block));
        default -> throw new UnclearRequestException("a block that is no text");
      }
    }
    Object content = texts.size() == 1 ? ((Map<?, ?>) texts.get(0)).get("text") : texts;
    if (texts.isEmpty() && calls.isEmpty() && reasoning.isEmpty() && !role.equals("assistant")) {
      return; // results of tools, which are messages of their own
    }
    Map<String, Object> made = new LinkedHashMap<>();
    made.put("role", role);
    if (!texts.isEmpty()) {
      made.put("content", content);
    }
    if (!reasoning.isEmpty()) {
      made.put("reasoning", reasoning.toString());
    }
    if (!calls.isEmpty()) {
      made.put("tool_calls", calls);
    }
    messages.add(made);
  }

  private static Map<String, Object> part(String text) {
    Map<String, Object> part = new LinkedHashMap<>();
    part.put("type", "text");
    part.put("text", text);
    return part;
  }

  private static Map<String, Object> call(Map<String, Object> block)
      throws UnclearRequestException {
    Map<String, Object> function = new LinkedHashMap<>();
    function.put("name", JsonFields.text(block, "name", ""));
    Object input = block.get("input");
    function.put("arguments", input == null ? new LinkedHashMap<>() : input);
    Map<String, Object> call = new LinkedHashMap<>();
    call.put("id", JsonFields.text(block, "id", ""));
    call.put("type", "function");
    call.put("function", function);
    return call;
  }

  private static Map<String, Object> result(String role, Map<String, Object> block)
      throws UnclearRequestException {
    if (!role.equals("user")) {
      throw new UnclearRequestException("a result of a tool that is not the user's");
    }
    Map<String, Object> message = message("tool", resultText(block.get("content")));
    message.put("tool_call_id", JsonFields.text(block, "tool_use_id", ""));
    return message;
  }

  private static String resultText(@Nullable Object content) throws UnclearRequestException {
    if (content == null || content instanceof String) {
      return content == null ? "" : (String) content;
    }
    List<String> texts = new ArrayList<>();
    for (Object each : JsonFields.list("content", content)) {
      Map<String, Object> block = JsonFields.object("a block", each);
      if (!"text".equals(block.get("type"))) {
        throw new UnclearRequestException("a block that is no text");
      }
      texts.add(JsonFields.text(block, "text", ""));
    }
    return String.join("\n", texts);
  }

  private static List<Object> tools(List<Object> tools) throws UnclearRequestException {
    List<Object> made = new ArrayList<>();
    for (Object each : tools) {
      Map<String, Object> tool = JsonFields.object("a tool", each);
      Map<String, Object> function = new LinkedHashMap<>();
      function.put("name", tool.get("name"));
      function.put("description", tool.get("description"));
      function.put("parameters", tool.get("input_schema"));
      Map<String, Object> outer = new LinkedHashMap<>();
      outer.put("type", "function");
      outer.put("function", function);
      made.add(outer);
    }
    return made;
  }
}
