package io.kvasir.tokens.chat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads requests as vLLM does before it renders them. Where the prompt depends on anything but the
 * request, such as stored responses, the request is unclear; {@link OtherParts} are to be replaced
 * before. Stateless.
 */
public final class ChatReader {

  /** The endpoints that can be read. */
  public static final List<String> PATHS =
      List.of("/v1/chat/completions", "/v1/messages", "/v1/responses");

  /** JsonFields that change the prompt in ways that are not followed here. */
  private static final List<String> UNCLEAR =
      List.of("chat_template", "truncate_prompt_tokens", "truncation_side");

  /** Names that are no variables of the template where they are given as such. */
  private static final List<String> PARAMETERS =
      List.of(
          "messages",
          "conversation",
          "tools",
          "documents",
          "chat_template",
          "add_generation_prompt",
          "continue_final_message",
          "tokenize",
          "padding",
          "truncation",
          "max_length",
          "return_tensors",
          "return_dict",
          "tokenizer_kwargs");

  static final ObjectMapper JSON = new ObjectMapper();
  private static final TypeReference<Map<String, Object>> OBJECT = new TypeReference<>() {};

  private ChatReader() {}

  /**
   * Parses a request.
   *
   * @param body the request as JSON
   * @return its fields, in their order
   * @throws UnclearRequestException if it is no object
   */
  public static Map<String, Object> parse(byte[] body) throws UnclearRequestException {
    try {
      return JSON.readValue(body, OBJECT);
    } catch (IOException e) {
      throw new UnclearRequestException("no JSON object");
    }
  }

  /**
   * Reads a request.
   *
   * @param path one of {@link #PATHS}
   * @param request its fields
   * @param parts whether the template goes through the parts of contents; if not, it is given texts
   * @return what the template renders
   * @throws UnclearRequestException if the prompt is not known from the request alone
   */
  public static ChatInput read(String path, Map<String, Object> request, boolean parts)
      throws UnclearRequestException {
    for (String field : UNCLEAR) {
      if (request.get(field) != null) {
        throw new UnclearRequestException(field);
      }
    }
    return switch (path) {
      case "/v1/messages" -> AnthropicMessages.read(request, parts);
      case "/v1/responses" -> ResponsesInput.read(request, parts);
      default -> chat(request, request, parts);
    };
  }

  /**
   * Reads a chat.
   *
   * @param chat the object with messages and tools
   * @param request the object with everything else
   */
  static ChatInput chat(Map<String, Object> chat, Map<String, Object> request, boolean parts)
      throws UnclearRequestException {
    List<Map<String, Object>> messages = new ArrayList<>();
    for (Object message : JsonFields.list(chat, "messages")) {
      messages.add(message(JsonFields.object("a message", message), parts));
    }
    Map<String, Object> variables = new LinkedHashMap<>();
    Object further = request.get("chat_template_kwargs");
    if (further != null) {
      variables.putAll(JsonFields.object("chat_template_kwargs", further));
      for (String parameter : PARAMETERS) {
        if (variables.containsKey(parameter)) {
          throw new UnclearRequestException(parameter + " in chat_template_kwargs");
        }
      }
    }
    Object effort = request.get("reasoning_effort");
    if (effort != null) {
      variables.putIfAbsent("enable_thinking", !effort.equals("none"));
      variables.put("reasoning_effort", effort);
    }
    boolean goesOn = JsonFields.flag(request, "continue_final_message", false);
    return new ChatInput(
        messages,
        tools(JsonFields.list(chat, "tools")),
        request.get("documents"),
        variables,
        JsonFields.flag(request, "add_generation_prompt", true),
        goesOn);
  }

  private static Map<String, Object> message(Map<String, Object> message, boolean parts)
      throws UnclearRequestException {
    Map<String, Object> read = new LinkedHashMap<>();
    String role = JsonFields.text(message, "role", "");
    if (role.equals("developer")) {
      throw new UnclearRequestException("a developer's message");
    }
    read.put("role", role);
    read.put("content", content(message.get("content"), parts));
    if (role.equals("assistant")) {
      List<Object> calls = JsonFields.list(message, "tool_calls");
      if (!calls.isEmpty()) {
        read.put("tool_calls", calls(calls));
      }
      Object reasoning =
          message.get("reasoning") != null
              ? message.get("reasoning")
              : message.get("reasoning_content");
      if (reasoning != null) {
        read.put("reasoning", reasoning);
        read.put("reasoning_content", reasoning);
      }
    } else if (role.equals("tool") && message.containsKey("tool_call_id")) {
      read.put("tool_call_id", message.get("tool_call_id"));
    }
    if (message.get("name") instanceof String name) {
      read.put("name", name);
    }
    return read;
  }

  /** One text, or the parts. */
  private static Object content(@Nullable Object content, boolean parts)
      throws UnclearRequestException {
    List<String> texts = new ArrayList<>();
    List<Object> wrapped = new ArrayList<>();
    List<?> all =
        content == null
            ? List.of()
            : content instanceof String ? List.of(content) : JsonFields.list("content", content);
    for (Object each : all) {
      Map<String, Object> part = new LinkedHashMap<>();
      if (each instanceof OtherParts.Mark mark && parts) {
        part.put("type", mark.kind());
      } else {
        String text = each instanceof String is ? is : text(JsonFields.object("a part", each));
        texts.add(text);
        part.put("type", "text");
        part.put("text", text);
      }
      wrapped.add(part);
    }
    return parts ? wrapped : String.join("\n", texts);
  }

  private static String text(Map<String, Object> part) throws UnclearRequestException {
    String type = JsonFields.text(part, "type", "text");
    return switch (type) {
      case "text", "input_text", "output_text" -> JsonFields.text(part, "text", "");
      case "refusal" -> JsonFields.text(part, "refusal", "");
      case "thinking" -> JsonFields.text(part, "thinking", "");
      default -> throw new UnclearRequestException("a part that is no text");
    };
  }

  /** Calls of tools, whose arguments are objects for templates, and text in requests. */
  private static List<Object> calls(List<Object> calls) throws UnclearRequestException {
    List<Object> read = new ArrayList<>();
    for (Object each : calls) {
      Map<String, Object> call = new LinkedHashMap<>(JsonFields.object("a tool call", each));
      Map<String, Object> function =
          new LinkedHashMap<>(JsonFields.object("function", call.get("function")));
      Object arguments = function.get("arguments");
      if (arguments == null || arguments.equals("")) {
        function.put("arguments", new LinkedHashMap<>());
      } else if (arguments instanceof String text) {
        function.put("arguments", value(text));
      }
      call.put("function", function);
      read.add(call);
    }
    return read;
  }

  private static Object value(String json) throws UnclearRequestException {
    try {
      return JSON.readValue(json, Object.class);
    } catch (JsonProcessingException e) {
      throw new UnclearRequestException("arguments that are no JSON");
    }
  }

  /** Tools with their fields in the order of vLLM's models, which templates print. */
  private static @Nullable List<Object> tools(List<Object> tools) throws UnclearRequestException {
    if (tools.isEmpty()) {
      return null;
    }
    List<Object> read = new ArrayList<>();
    for (Object each : tools) {
      Map<String, Object> tool = JsonFields.object("a tool", each);
      Map<String, Object> function = JsonFields.object("function", tool.get("function"));
      Map<String, Object> ordered = new LinkedHashMap<>();
      ordered.put("name", function.get("name"));
      ordered.put("description", function.get("description"));
      ordered.put("parameters", function.get("parameters"));
      function.forEach(ordered::putIfAbsent);
      Map<String, Object> outer = new LinkedHashMap<>();
      outer.put("type", tool.getOrDefault("type", "function"));
      outer.put("function", ordered);
      tool.forEach(outer::putIfAbsent);
      read.add(outer);
    }
    return read;
  }
}
