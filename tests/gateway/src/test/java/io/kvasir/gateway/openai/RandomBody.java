package io.kvasir.gateway.openai;

import io.kvasir.gateway.openai.RandomJson.Written;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;

/** Random bodies of requests. Most of them are valid. */
final class RandomBody {

  static final List<BodyField> FIELDS = List.of(BodyField.values());

  private final Random random;
  private final RandomJson json;

  RandomBody(Random random) {
    this.random = random;
    this.json = new RandomJson(random);
  }

  /** The members of a body; a field of ours at most once. */
  List<Written> members() {
    List<Written> members = new ArrayList<>();
    EnumSet<BodyField> fields = EnumSet.noneOf(BodyField.class);
    for (int i = random.nextInt(8); i > 0; i--) {
      fields.add(FIELDS.get(random.nextInt(FIELDS.size())));
    }
    for (BodyField field : fields) {
      members.add(json.member(field.key(), value(field)));
    }
    for (int i = random.nextInt(3); i > 0; i--) {
      members.add(
          json.member(json.pick(List.of("", "x", "Model", "temperature", "é")), json.value(2)));
    }
    Collections.shuffle(members, random);
    return members;
  }

  String body(List<Written> members) {
    return json.object(members);
  }

  private String value(BodyField field) {
    int odd = random.nextInt(60);
    if (odd == 0) {
      return json.value(2);
    }
    if (odd < 6) {
      return "null";
    }
    return switch (field.type) {
      case TEXT -> json.string();
      case FLAG -> json.pick(List.of("true", "false"));
      case INTEGER ->
          json.pick(
              List.of(
                  "1",
                  "0",
                  "-3",
                  "100",
                  "4096",
                  "10.0",
                  "1e3",
                  "2147483648",
                  "-99999999999999999999"));
      case OBJECT -> nested();
      case LIST -> messages();
      case PROMPT -> prompt();
      case ANY ->
          random.nextBoolean() ? prompt() : random.nextBoolean() ? messages() : json.value(2);
      case ROUTING -> json.value(3);
    };
  }

  private String nested() {
    List<Written> members = new ArrayList<>();
    if (random.nextInt(20) > 0) {
      members.add(json.member("conversation_id", json.string()));
    }
    if (random.nextBoolean()) {
      members.add(json.member("include_usage", json.pick(List.of("true", "false", "null"))));
    }
    if (random.nextBoolean()) {
      members.add(json.member("thread_id", json.string()));
    }
    if (random.nextBoolean()) {
      members.add(json.member("session_id", random.nextInt(5) == 0 ? "null" : json.string()));
    }
    if (random.nextBoolean()) {
      members.add(json.member("x", json.value(1)));
    }
    Collections.shuffle(members, random);
    return json.object(members).strip();
  }

  private String messages() {
    List<String> messages = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      List<Written> members = new ArrayList<>();
      members.add(json.member("role", random.nextInt(9) == 0 ? json.value(1) : "\"user\""));
      if (random.nextInt(9) > 0) {
        members.add(json.member("content", content()));
      }
      if (random.nextBoolean()) {
        members.add(json.member("name", json.value(1)));
      }
      Collections.shuffle(members, random);
      messages.add(random.nextInt(20) == 0 ? json.value(1) : json.object(members));
    }
    return "[" + String.join(",", messages) + "]";
  }

  private String content() {
    if (random.nextBoolean()) {
      return json.string();
    }
    List<String> parts = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      List<Written> members = new ArrayList<>(List.of(json.member("type", "\"text\"")));
      if (random.nextInt(5) > 0) {
        members.add(json.member("text", json.string()));
      }
      parts.add(random.nextInt(6) == 0 ? json.value(1) : json.object(members));
    }
    return random.nextInt(9) == 0 ? json.value(1) : "[" + String.join(",", parts) + "]";
  }

  private String prompt() {
    List<String> elements = new ArrayList<>();
    int form = random.nextInt(4);
    if (form == 0) {
      return json.string();
    }
    for (int i = random.nextInt(5); i > 0; i--) {
      elements.add(
          form == 1 ? json.string() : form == 2 ? token() : "[" + token() + "," + token() + "]");
    }
    return "[" + String.join(" , ", elements) + "]";
  }

  private String token() {
    return json.pick(List.of("0", "17", "151643", "4294967295"));
  }
}
