package io.kvasir.tokens.chat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Makes chats of requests to OpenAI's {@code /v1/responses}, as vLLM does. Stateless. */
final class ResponsesInput {

  private ResponsesInput() {}

  static ChatInput read(Map<String, Object> request, boolean parts) throws UnclearRequestException {
    if (request.get("previous_response_id") != null) {
      throw new UnclearRequestException("a stored response");
    }
    List<Object> messages = new ArrayList<>();
    String instructions = Fields.text(request, "instructions");
    if (instructions != null && !instructions.isEmpty()) {
      messages.add(message("system", instructions));
    }
    Object input = request.get("input");
    if (input instanceof String text) {
      messages.add(message("user", text));
    } else {
      for (Object item : Fields.list(request, "input")) {
        messages.add(item(Fields.object("an item", item)));
      }
    }
    Map<String, Object> chat = new LinkedHashMap<>();
    chat.put("messages", messages);
    chat.put("tools", tools(Fields.list(request, "tools")));
    Map<String, Object> others = new LinkedHashMap<>(request);
    if (request.get("reasoning") instanceof Map<?, ?> reasoning
        && reasoning.get("effort") != null) {
      others.put("reasoning_effort", reasoning.get("effort"));
    }
    return ChatReader.chat(chat, others, parts);
  }

  private static Map<String, Object> message(String role, Object content) {
    Map<String, Object> message = new LinkedHashMap<>();
    message.put("role", role);
    message.put("content", content);
    return message;
  }

  private static Map<String, Object> item(Map<String, Object> item) throws UnclearRequestException {
    String type = Fields.text(item, "type", "message");
    return switch (type) {
      case "message" -> item;
      case "function_call" -> call(item);
      case "function_call_output" -> output(item);
      default -> throw new UnclearRequestException("an item of another type");
    };
  }

  private static Map<String, Object> call(Map<String, Object> item) throws UnclearRequestException {
    Map<String, Object> function = new LinkedHashMap<>();
    function.put("name", Fields.text(item, "name", ""));
    function.put("arguments", item.get("arguments"));
    Map<String, Object> call = new LinkedHashMap<>();
    call.put("id", item.get("call_id"));
    call.put("function", function);
    call.put("type", "function");
    Map<String, Object> message = new LinkedHashMap<>();
    message.put("role", "assistant");
    message.put("tool_calls", List.of(call));
    return message;
  }

  private static Map<String, Object> output(Map<String, Object> item)
      throws UnclearRequestException {
    Object output = item.get("output");
    if (output == null) {
      throw new UnclearRequestException("an output that is missing");
    }
    Map<String, Object> message = message("tool", output);
    message.put("tool_call_id", item.get("call_id"));
    return message;
  }

  private static List<Object> tools(List<Object> tools) throws UnclearRequestException {
    List<Object> made = new ArrayList<>();
    for (Object each : tools) {
      Map<String, Object> tool = Fields.object("a tool", each);
      if (!"function".equals(tool.get("type"))) {
        throw new UnclearRequestException("a tool that is no function");
      }
      Map<String, Object> function = new LinkedHashMap<>();
      tool.forEach((key, value) -> putUnlessType(function, key, value));
      Map<String, Object> outer = new LinkedHashMap<>();
      outer.put("type", "function");
      outer.put("function", function);
      made.add(outer);
    }
    return made;
  }

  private static void putUnlessType(Map<String, Object> function, String key, Object value) {
    if (!key.equals("type")) {
      function.put(key, value);
    }
  }
}
