package io.kvasir.tokens.template;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.tokens.PythonProcess;
import java.math.BigInteger;
import java.util.Random;

/** Random variables of chat templates: most of them usual, some odd. */
final class RandomConversations {

  private static final String[] TEXTS = {
    "Hello",
    "",
    " padded \n",
    "<think>\na b\n</think>\n\nc",
    "ß é 中文",
    "\uD83D\uDE00 \uD83D\uDC68\u200D\uD83D\uDC69",
    "line\r\nline\u2028\u0085end",
    "it's \"quoted\" \\ back",
    "\u0000\u001f\u007f",
    "/no_think now",
    "{{ x }}{% y %}",
    "<tool_response>r</tool_response>",
    "a\tb",
    "[INST]",
    "&<>",
    "\uFEFFbom",
    "\n\n",
    "0",
    "system"
  };
  private static final String[] ROLES = {
    "user", "assistant", "user", "assistant", "system", "tool", "developer", "User", "ipython"
  };
  private static final String[] TYPES = {
    "string", "integer", "number", "boolean", "array", "object"
  };

  private final Random random;

  RandomConversations(Random random) {
    this.random = random;
  }

  private String one(String... choices) {
    return choices[random.nextInt(choices.length)];
  }

  private String text() {
    return random.nextInt(3) == 0 ? one(TEXTS) + one(TEXTS) : one(TEXTS);
  }

  private boolean rarely() {
    return random.nextInt(12) == 0;
  }

  JsonNode variables() {
    ObjectNode variables = PythonProcess.JSON.createObjectNode();
    variables.put("bos_token", "<s>").put("eos_token", "</s>");
    if (random.nextBoolean()) {
      variables.put("add_generation_prompt", random.nextBoolean());
    }
    if (random.nextInt(4) == 0) {
      variables.put("enable_thinking", random.nextBoolean());
    }
    if (random.nextInt(3) == 0) {
      ArrayNode tools = variables.putArray("tools");
      for (int i = random.nextInt(3); i >= 0; i--) {
        tools.add(tool());
      }
    }
    if (rarely()) {
      variables.putArray("documents").addObject().put("title", text()).put("text", text());
    }
    ArrayNode messages = variables.putArray("messages");
    boolean usual = random.nextInt(3) > 0;
    if (usual && random.nextBoolean()) {
      messages.addObject().put("role", "system").put("content", text());
    }
    int count = random.nextInt(6);
    for (int i = 0; i < count; i++) {
      messages.add(message(usual ? (i % 2 == 0 ? "user" : "assistant") : one(ROLES)));
    }
    return variables;
  }

  private ObjectNode message(String role) {
    ObjectNode message = PythonProcess.JSON.createObjectNode();
    message.put("role", role);
    if (random.nextInt(4) == 0 && role.equals("assistant")) {
      message.put("content", rarely() ? null : text());
      ArrayNode calls = message.putArray("tool_calls");
      for (int i = random.nextInt(2); i >= 0; i--) {
        calls.add(call());
      }
    } else if (random.nextInt(8) == 0) {
      ArrayNode parts = message.putArray("content");
      parts.addObject().put("type", "text").put("text", text());
      parts.addObject().put("type", one("image", "text", "image_url")).put("text", text());
    } else if (rarely()) {
      message.set("content", value(2));
    } else {
      message.put("content", text());
    }
    if (rarely()) {
      message.put("name", text());
    }
    if (rarely()) {
      message.put("reasoning_content", text());
    }
    if (role.equals("tool")) {
      message.put("tool_call_id", one("call12345", "a"));
    }
    return message;
  }

  private ObjectNode call() {
    ObjectNode call = PythonProcess.JSON.createObjectNode();
    call.put("id", one("call12345", "a")).put("type", "function");
    ObjectNode function = call.putObject("function");
    function.put("name", one("get", "f"));
    if (random.nextInt(4) == 0) {
      function.put("arguments", "{\"x\": 1}");
    } else {
      ObjectNode arguments = function.putObject("arguments");
      for (int i = random.nextInt(3); i > 0; i--) {
        arguments.set(one("x", "items", "ключ", "a b"), value(2));
      }
    }
    return call;
  }

  private ObjectNode tool() {
    ObjectNode tool = PythonProcess.JSON.createObjectNode();
    tool.put("type", "function");
    ObjectNode function = tool.putObject("function");
    function.put("name", one("get", "f")).put("description", text());
    ObjectNode parameters = function.putObject("parameters");
    parameters.put("type", "object");
    ObjectNode properties = parameters.putObject("properties");
    for (int i = random.nextInt(3); i > 0; i--) {
      ObjectNode property = properties.putObject(one("x", "y", "größe"));
      property.put("type", one(TYPES)).put("description", text());
      if (rarely()) {
        property.set("default", value(1));
      }
      if (rarely()) {
        property.putObject("items").put("type", one(TYPES));
      }
    }
    if (random.nextBoolean()) {
      parameters.putArray("required").add("x");
    }
    return tool;
  }

  private JsonNode value(int depth) {
    ObjectNode holder = PythonProcess.JSON.createObjectNode();
    switch (random.nextInt(depth == 0 ? 7 : 9)) {
      case 0 -> holder.putNull("v");
      case 1 -> holder.put("v", random.nextBoolean());
      case 2 -> holder.put("v", random.nextInt(2000) - 1000);
      case 3 -> holder.put("v", new BigInteger(90, random));
      case 4 -> holder.put("v", random.nextGaussian() * Math.pow(10, random.nextInt(40) - 20));
      case 5 -> holder.put("v", (double) random.nextInt(50));
      case 6 -> holder.put("v", text());
      case 7 -> holder.putArray("v").add(value(depth - 1)).add(value(depth - 1));
      default -> holder.putObject("v").set(text(), value(depth - 1));
    }
    return holder.get("v");
  }
}
