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
    String instructions = JsonFields.text(request, "instructions");
    if (instructions != null && !instructions.isEmpty()) {
      messages.add(message("system", instructions));
    }
    Object input = request.get("input");
    if (input instanceof String text) {
      messages.add(message("user", text));
    } else {
      for (Object item : JsonFields.list(request, "input")) {
        add(JsonFields.object("an item", item), messages);
      }
    }
    Map<String, Object> chat = new LinkedHashMap<>();
    chat.put("messages", messages);
    chat.put("tools", tools(JsonFields.list(request, "tools")));
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

  private static void add(Map<String, Object> item, List<Object> messages)
      throws UnclearRequestException {
    String status = JsonFields.text(item, "status", "completed");
    if (!status.equals("completed")) {
      throw new UnclearRequestException("an item that is not complete");
    }
    String type = JsonFields.text(item, "type", "message");
    switch (type) {
      case "message" -> messages.add(message(item));
      case "function_call" -> call(item, messages);
      case "function_call_output" -> messages.add(output(item));
      default -> throw new UnclearRequestException("an item of another type");
    }
  }

  /** Of an answer in several parts, the first counts. */
  private static Map<String, Object> message(Map<String, Object> item)
      throws UnclearRequestException {
    boolean answered = "assistant".equals(item.get("role"));
    if (answered && item.get("content") instanceof List<?> parts && parts.size() > 1) {
      Map<String, Object> first = new LinkedHashMap<>(item);
      first.put("content", parts.subList(0, 1));
      return first;
    }
    return item;
  }

  /** A call belongs to the answer before it. */
  private static void call(Map<String, Object> item, List<Object> messages)
      throws UnclearRequestException {
    Map<String, Object> function = new LinkedHashMap<>();
    function.put("name", JsonFields.text(item, "name", ""));
    function.put("arguments", item.get("arguments"));
    Map<String, Object> call = new LinkedHashMap<>();
    call.put("id", item.get("call_id"));
    call.put("function", function);
    call.put("type", "function");
    Map<String, Object> message = new LinkedHashMap<>();
    message.put("role", "assistant");
    List<Object> calls = new ArrayList<>();
    if (!messages.isEmpty()) {
      int last = messages.size() - 1;
      Map<String, Object> before = JsonFields.object("a message", messages.get(last));
      if ("assistant".equals(before.get("role"))) {
        message = new LinkedHashMap<>(before);
        calls.addAll(JsonFields.list(before, "tool_calls"));
        messages.remove(last);
      }
    }
    calls.add(call);
    message.put("tool_calls", calls);
    messages.add(message);
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
      Map<String, Object> tool = JsonFields.object("a tool", each);
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
