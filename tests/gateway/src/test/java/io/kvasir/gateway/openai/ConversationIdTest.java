package io.kvasir.gateway.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.exchange.Headers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class ConversationIdTest {

  private static final String VECTORS = "tests/vectors/serve-routers.json";

  private static String id(String body, String... headers) throws InvalidBodyException {
    return conversation(body, headers).id();
  }

  private static NamedConversation conversation(String body, String... headers)
      throws InvalidBodyException {
    Headers all = new Headers();
    for (int i = 0; i < headers.length; i += 2) {
      all.add(headers[i], headers[i + 1]);
    }
    return NamedConversation.of(
        all, body == null ? null : BodyScanTest.scan(body.replace('\'', '"')));
  }

  /** The conformance vectors of TensorRT-LLM's server. */
  @TestFactory
  Stream<DynamicTest> vectors() throws IOException {
    Path root = Path.of(System.getProperty("kvasir.root"));
    JsonNode all = new ObjectMapper().readTree(root.resolve(VECTORS).toFile());
    return StreamSupport.stream(all.get("conversationIds").spliterator(), false)
        .map(vector -> dynamicTest(vector.get("id").textValue(), () -> check(vector)));
  }

  private static void check(JsonNode vector) throws InvalidBodyException {
    Headers headers = new Headers();
    vector
        .get("headers")
        .properties()
        .forEach(field -> headers.add(field.getKey(), field.getValue().textValue()));
    String body = vector.get("body").toString();
    if (vector.path("error").booleanValue()) {
      assertThatThrownBy(() -> NamedConversation.of(headers, BodyScanTest.scan(body)))
          .isInstanceOf(InvalidBodyException.class)
          .hasMessageContaining("conversation_params");
      return;
    }
    NamedConversation found = NamedConversation.of(headers, BodyScanTest.scan(body));
    assertThat(found.id()).isEqualTo(vector.get("expected").textValue());
    assertThat(found.subagentAffinityId()).isEqualTo(vector.path("parent").textValue());
  }

  @Test
  void theBodysConversationGoesFirst() throws InvalidBodyException {
    assertThat(id("{'conversation_params':{'conversation_id':' a '}}", "X-Session-ID", "b"))
        .isEqualTo("a");
  }

  @Test
  void headersHaveAnOrder() throws InvalidBodyException {
    String key = "{'prompt_cache_key':'k'}";
    assertThat(id(key, "x-session-id", "b", "x-claude-CODE-session-id", " a ")).isEqualTo("a");
    assertThat(id(key, "X-Multi-Turn-Session-ID", "d", "X-Correlation-ID", "c")).isEqualTo("c");
    assertThat(id(key, "X-Session-ID", " ", "X-Session-Affinity", "e")).isEqualTo("e");
    assertThat(id(key, "X-Session-ID", "", "X-Session-ID", "second")).isEqualTo("second");
    assertThat(id(null, "X-Session-ID", "b")).isEqualTo("b");
  }

  @Test
  void otherFieldsOfTheBodyComeLast() throws InvalidBodyException {
    assertThat(id("{'client_metadata':{'session_id':'s','thread_id':'t'},'prompt_cache_key':'k'}"))
        .isEqualTo("k");
    assertThat(id("{'client_metadata':{'session_id':'s','thread_id':'t'},'prompt_cache_key':''}"))
        .isEqualTo("t");
    assertThat(id("{'client_metadata':{'session_id':'s','thread_id':' '}}")).isEqualTo("s");
    assertThat(id("{'client_metadata':{}}")).isNull();
    assertThat(id("{}", "X-Session-ID", " ")).isNull();
    assertThat(id(null)).isNull();
  }

  @Test
  void codexNamesItsSessionInAHeader() throws InvalidBodyException {
    assertThat(id(null, "session-id", "new")).isEqualTo("new");
    assertThat(id(null, "session_id", "old")).isEqualTo("old");
    assertThat(id("{'prompt_cache_key':'k'}", "session_id", "old", "X-Session-ID", "x"))
        .isEqualTo("x");
  }

  @Test
  void anthropicsClientsNameTheirSessionInTheUserId() throws InvalidBodyException {
    String user = "user_0a1b_account_7d-1_session_6f9c-22";
    assertThat(id("{'metadata':{'user_id':'" + user + "'}}")).isEqualTo("6f9c-22");
    assertThat(id("{'metadata':{'user_id':'user_0a1b_account__session_6f9c'}}")).isEqualTo("6f9c");
    String json =
        "{\\'device_id\\':\\'d\\',\\'x\\':{\\'session_id\\':\\'no\\'},\\'session_id\\':\\'s 1\\'}";
    assertThat(id("{'metadata':{'user_id':'" + json + "'}}")).isEqualTo("s 1");
    assertThat(id("{'metadata':{'user_id':'" + user + "'}}", "X-Session-ID", "h")).isEqualTo("h");
    for (String other :
        new String[] {
          "'alice'",
          "'user_0a1b'",
          "'{'",
          "'{\\'session_id\\':7}'",
          "'user_a_session_" + "x".repeat(513) + "'",
          "'user_a_session_" + "x".repeat(9_000) + "'",
          "7",
          "null"
        }) {
      assertThat(id("{'metadata':{'user_id':" + other + "}}")).as(other).isNull();
    }
    assertThat(id("{'metadata':'user_a_session_b'}")).isNull();
  }

  @Test
  void subagentsNameTheConversationOfTheirParent() throws InvalidBodyException {
    String both = "{'conversation_params':{'conversation_id':'own','subagent_affinity_id':' p '}}";
    String blank = "{'conversation_params':{'subagent_affinity_id':' ','conversation_id':'own'}}";
    String[] header = {"x-trtllm-subagent-affinity-id", " h ", "X-Session-ID", "s"};

    assertThat(conversation(both, header)).isEqualTo(new NamedConversation("own", "p"));
    assertThat(conversation(blank, header)).isEqualTo(new NamedConversation("own", "h"));
    assertThat(conversation(blank)).isEqualTo(new NamedConversation("own", null));
    assertThat(conversation("{}", header)).isEqualTo(new NamedConversation("s", "h"));
    assertThat(conversation(null, header)).isEqualTo(new NamedConversation("s", "h"));
    assertThat(conversation("{}")).isEqualTo(NamedConversation.NONE);
    assertThatThrownBy(() -> conversation(both.replace("' p '", "7")))
        .isInstanceOf(InvalidBodyException.class)
        .hasMessageContaining("conversation_params.subagent_affinity_id must be");
    assertThatThrownBy(() -> conversation("{}", header[0], "x".repeat(513)))
        .isInstanceOf(InvalidBodyException.class)
        .hasMessage("X-TRTLLM-Subagent-Affinity-ID must have at most 512 characters");
  }

  @Test
  void agentsOfClaudeCodeShareASession() throws InvalidBodyException {
    String[] main = {"X-Claude-Code-Session-Id", "s"};
    assertThat(conversation("{}", main)).isEqualTo(new NamedConversation("s", null));
    String[] agent = {"x-claude-code-session-id", "s", "x-claude-code-agent-id", " a1 "};
    assertThat(conversation("{}", agent)).isEqualTo(new NamedConversation("s/a1", "s"));
    String[] second = Arrays.copyOf(agent, 6);
    second[4] = "x-claude-code-parent-agent-id";
    second[5] = "a0";
    assertThat(conversation("{}", second)).isEqualTo(new NamedConversation("s/a1", "s/a0"));
    String named = "{'conversation_params':{'conversation_id':'own','subagent_affinity_id':'p'}}";
    assertThat(conversation(named, second)).isEqualTo(new NamedConversation("own", "p"));
    assertThat(conversation("{}", "x-claude-code-agent-id", "a1"))
        .isEqualTo(NamedConversation.NONE);
  }

  @Test
  void otherRoutersHeadersCount() throws InvalidBodyException {
    assertThat(
            conversation(
                "{}", "X-Dynamo-Session-ID", "child", "X-Dynamo-Parent-Session-ID", "root"))
        .isEqualTo(new NamedConversation("child", "root"));
    assertThat(id("{}", "X-SMG-Routing-Key", "k")).isEqualTo("k");
    assertThat(id("{}", "x-aibrix-session-key", "k", "X-Session-ID", "s")).isEqualTo("s");
  }

  @Test
  void idsAreLimited() throws InvalidBodyException {
    String longest = "x".repeat(ConversationId.MAX_CHARACTERS);
    assertThat(id("{'prompt_cache_key':' " + longest + "'}")).isEqualTo(longest);
    refused(
        "{'prompt_cache_key':'x" + longest + "'}",
        "prompt_cache_key",
        "must have at most 512 characters");
    refused(
        "{'client_metadata':{'thread_id':'a\\u0000b'}}",
        "client_metadata.thread_id",
        "must not have control characters");
    assertThatThrownBy(() -> id(null, "x-session-id", "a\u0085b"))
        .isInstanceOf(InvalidBodyException.class)
        .hasMessage("X-Session-ID must not have control characters");
  }

  private static void refused(String body, String field, String message) {
    assertThatThrownBy(() -> id(body))
        .isInstanceOfSatisfying(
            InvalidBodyException.class, e -> assertThat(e.param()).isEqualTo(field))
        .hasMessage(field + " " + message);
  }
}
