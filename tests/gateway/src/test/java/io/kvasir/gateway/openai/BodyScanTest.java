package io.kvasir.gateway.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.fleet.router.Prompt;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BodyScanTest {

  static BodyScan scan(String body) throws InvalidBodyException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    return BodyScan.of(bytes, 0, bytes.length);
  }

  private static void refused(String body, String param, String message) {
    refused(body.getBytes(StandardCharsets.UTF_8), param, message);
  }

  private static void refused(byte[] body, String param, String message) {
    assertThatThrownBy(() -> BodyScan.of(body, 0, body.length))
        .isInstanceOfSatisfying(
            InvalidBodyException.class, e -> assertThat(e.param()).isEqualTo(param))
        .hasMessage(message);
  }

  @Test
  void chatRequestsAreRead() throws InvalidBodyException {
    BodyScan body =
        scan(
            """
            {"model": "m", "stream": true, "stream_options": {"include_usage": true, "x": 1},
             "messages": [{"role": "system", "content": "Be brief."},
                          {"content": [{"type": "text", "text": "What is"},
                                       {"type": "image_url", "image_url": {"url": "data:"}},
                                       {"type": "text", "text": "this?\\n"}], "role": "user"},
                          {"role": "assistant", "content": null, "tool_calls": []}],
             "max_tokens": 5, "max_completion_tokens": 50, "n": 2, "user": "u", "priority": -3,
             "cache_salt": "s", "prompt_cache_key": "k"}
            """);
    assertThat(body.model()).isEqualTo("m");
    assertThat(body.stream()).isTrue();
    assertThat(body.includesUsage()).isTrue();
    assertThat(body.maxOutputTokens()).isEqualTo(50);
    assertThat(body.n()).isEqualTo(2);
    assertThat(body.user()).isEqualTo("u");
    assertThat(body.priority()).isEqualTo(-3);
    assertThat(body.cacheSalt()).isEqualTo("s");
    assertThat(body.promptCacheKey()).isEqualTo("k");
    assertThat(body.prompt().decode())
        .isInstanceOf(Prompt.Chat.class)
        .extracting(Prompt::text)
        .isEqualTo("system:Be brief.\nuser:What is\nthis?\n\nassistant:");
  }

  @Test
  void absentAndNullAreTheSame() throws InvalidBodyException {
    StringBuilder nulls = new StringBuilder("{");
    for (BodyField field : BodyField.values()) {
      nulls.append(nulls.length() > 1 ? ",\"" : "\"").append(field.key()).append("\":null");
    }
    for (String json : new String[] {"{}", " { } ", nulls + "}"}) {
      BodyScan body = scan(json);
      assertThat(body.model()).isNull();
      assertThat(body.stream()).isFalse();
      assertThat(body.includesUsage()).isFalse();
      assertThat(body.maxOutputTokens()).isZero();
      assertThat(body.n()).isOne();
      assertThat(body.prompt().decode()).isNull();
      assertThat(body.prompt().bytes()).isZero();
      assertThat(body.conversationId()).isNull();
      assertThat(body.has(BodyField.MODEL)).isFalse();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'messages':[1,2],'system':'12345','n':1} | 12",
        "{'input':'123','instructions':'1234','tools':[{}]} | 15",
        "{'prompt':'12345','system':'x','tools':[]} | 7",
        "{'system':'12345'} | 0"
      })
  void theSizeOfAPromptIsThatOfAllItsParts(String json, int bytes) throws InvalidBodyException {
    assertThat(scan(json.replace('\'', '"')).prompt().bytes()).isEqualTo(bytes);
  }

  @Test
  void anthropicAndResponsesPromptsAreChats() throws InvalidBodyException {
    String messages = "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]";
    assertThat(
            scan("{\"system\":[{\"type\":\"text\",\"text\":\"Be\"}]," + messages + "}")
                .prompt()
                .decode())
        .extracting(Prompt::text)
        .isEqualTo("system:Be\nuser:Hi");
    String item = "{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"Hi\"}]}";
    BodyScan responses = scan("{\"input\":[" + item + "],\"previous_response_id\":\"r\"}");
    assertThat(responses.prompt().decode()).extracting(Prompt::text).isEqualTo("user:Hi");
    assertThat(responses.previousResponseId()).isEqualTo("r");
    assertThat(scan("{\"input\":{\"any\":1}}").prompt().decode()).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{'prompt': 'Hi'}",
        "{'prompt': [1, 2], 'input': [{'type': 'input_image'}]}",
        "{'input': ['Hi', [1], 2]}",
        "{'input': [{'role': 'user', 'content': [{'type': 'input_text', 'text': 'Hi'}]}]}",
        "{'system': [{'type': 'text', 'text': 'Be'}], 'messages': []}",
        "{'messages': [{'content': null, 'tool_calls': [{}]}, {'content': ['Hi', {'text': ''}]}]}"
      })
  void promptsOfTextHaveNoOtherContent(String json) throws InvalidBodyException {
    assertThat(scan(json.replace('\'', '"')).prompt().hasOtherContent()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'messages': [{'content': 'Hi'}, {'content': [{'text': 'Hi'}, {'type': 'image_url'}]}]}",
        "{'messages': [{'content': [{'type': 'image_url', 'text': 'Hi'}]}]}",
        "{'messages': [{'content': [{'text': 7}]}]}",
        "{'messages': [{'content': [7]}]}",
        "{'messages': [{'content': {'type': 'input_audio'}}]}",
        "{'messages': [], 'system': [{'type': 'image', 'source': {}}]}",
        "{'input': [{'role': 'user', 'content': [{'type': 'input_image'}]}]}",
        "{'input': [{'type': 'item_reference', 'id': 'i'}]}"
      })
  void partsThatAreNoTextsAreSeen(String json) throws InvalidBodyException {
    assertThat(scan(json.replace('\'', '"')).prompt().hasOtherContent()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "model",
        "user",
        "prompt_cache_key",
        "previous_response_id",
        "cache_salt",
        "conversation_params.conversation_id",
        "client_metadata.thread_id",
        "client_metadata.session_id"
      })
  void namesAreShort(String path) throws InvalidBodyException {
    String most = member(path, "\"" + "x".repeat(8190) + "\"");
    assertThat(scan(most).length()).isEqualTo(most.length());
    refused(
        member(path, "\"" + "x".repeat(8191) + "\""),
        path,
        path + " must be a string or null, of at most 8192 bytes");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"max_completion_tokens", "max_tokens", "max_output_tokens", "n", "priority"})
  void integersAreShort(String field) throws InvalidBodyException {
    assertThat(scan(member(field, "1".repeat(64))).members()).isOne();
    for (String integer :
        new String[] {"1".repeat(65), "1." + "0".repeat(70), "1e" + "0".repeat(80)}) {
      refused(
          member(field, integer),
          field,
          field + " must be an integer or null, of at most 64 bytes");
    }
  }

  private static String member(String path, String value) {
    int dot = path.indexOf('.');
    return dot < 0
        ? "{\"" + path + "\":" + value + "}"
        : "{\"" + path.substring(0, dot) + "\":" + member(path.substring(dot + 1), value) + "}";
  }

  @Test
  void aLongKeyIsNotDecodedForAMessage() {
    String key = "k".repeat(9_000);
    byte[] body = ("{\"" + key + "\":\"\u00ff\"}").getBytes(StandardCharsets.ISO_8859_1);
    assertThatThrownBy(() -> BodyScan.of(body, 0, body.length))
        .isInstanceOfSatisfying(InvalidBodyException.class, e -> assertThat(e.param()).isNull());
  }

  @Test
  void tokensAreUnsigned() throws InvalidBodyException {
    Prompt prompt = scan("{\"prompt\": [[1, 4294967295], []]}").prompt().decode();
    assertThat(((Prompt.Tokens) prompt).sequences()).containsExactly(new int[] {1, -1}, new int[0]);
    String range = "prompt's tokens must be integers from 0 to 4294967295";
    refused("{\"prompt\":[4294967296]}", "prompt", range);
    refused("{\"prompt\":[-1]}", "prompt", range);
    refused("{\"prompt\":[[1.0]]}", "prompt", range);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'model':1}|model|model must be a string or null",
        "{'stream':'true'}|stream|stream must be true, false or null",
        "{'stream_options':true}|stream_options|stream_options must be an object or null",
        "{'stream_options':{'include_usage':1}}|stream_options.include_usage"
            + "|stream_options.include_usage must be true, false or null",
        "{'messages':{}}|messages|messages must be an array or null",
        "{'max_tokens':1.5}|max_tokens|max_tokens must be an integer or null",
        "{'max_tokens':1e999}|max_tokens|max_tokens must be an integer or null",
        "{'n':'2'}|n|n must be an integer or null",
        "{'prompt':['a',1]}|prompt|prompt must be a string, an array of strings, an array of tokens"
            + " or an array of such arrays",
        "{'client_metadata':{'thread_id':1}}|client_metadata.thread_id"
            + "|client_metadata.thread_id must be a string or null",
        "{'conversation_params':{}}|conversation_params.conversation_id"
            + "|conversation_params.conversation_id must be a string that is not blank",
        "{'conversation_params':{'conversation_id':' \\n'}}|conversation_params.conversation_id"
            + "|conversation_params.conversation_id must be a string that is not blank",
        "{'model':'a','x':1,'model':'a'}|model|model must not be repeated",
        "{'bootstrap_room':1,'bootstrap_roo\\u006d':2}|bootstrap_room"
            + "|bootstrap_room must not be repeated",
        "{'stream_options':{'include_usage':null,'include_usage':true}}"
            + "|stream_options.include_usage|stream_options.include_usage must not be repeated",
        "[]||the body must be a JSON object",
        "{'a':1,}||the body is not valid JSON: a key in quotes is expected (byte 7)",
        "{'a':01}||the body is not valid JSON: a comma or } is expected (byte 6)",
        "{'prompt':[1,01]}||the body is not valid JSON: a comma or ] is expected (byte 14)",
        "{'prompt':[1.]}||the body is not valid JSON: a digit is expected (byte 13)",
        "{'a':1}x||the body is not valid JSON: the end of the body is expected (byte 7)",
        "{'a':'||the body is not valid JSON: it ends within a string (byte 6)",
        "{'a':||the body is not valid JSON: it ends too early (byte 5)",
      })
  void errorsNameTheFieldAndWhatIsAllowed(String body, String param, String message) {
    refused(body.replace('\'', '"'), param, message);
  }

  @Test
  void emptyBodiesAreRefused() {
    refused("", null, "the body is empty; it must be a JSON object");
    refused(" \n", null, "the body is empty; it must be a JSON object");
  }

  @Test
  void nestingIsLimited() throws InvalidBodyException {
    int inner = BodyScan.MAX_DEPTH - 1;
    assertThat(scan("{\"a\":" + "[".repeat(inner) + "]".repeat(inner) + "}").model()).isNull();
    refused(
        "{\"a\":" + "[".repeat(100_000),
        null,
        "the body is not valid JSON: arrays and objects must not be nested deeper than 128 (byte"
            + " 132)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"c080", "c1bf", "e09fbf", "eda080", "edbfbf", "f08fbfbf", "f4908080"})
  void brokenUtf8IsRefusedByName(String hex) {
    byte[] body = "{\"x\":1,\"prompt\":\"........\"}".getBytes(StandardCharsets.UTF_8);
    byte[] broken = java.util.HexFormat.of().parseHex(hex);
    System.arraycopy(broken, 0, body, 17, broken.length);
    refused(body, "prompt", "prompt is not valid UTF-8 (byte 17)");
  }

  @Test
  void edgesOfUtf8AreAccepted() throws InvalidBodyException {
    String edges = "\u0080\u07ff\u0800\ud7ff\ue000\uffff\ud800\udc00\udbff\udfff";
    assertThat(scan("{\"model\":\"" + edges + "\"}").model()).isEqualTo(edges);
  }

  @Test
  void otherFieldsCanBeRepeated() throws InvalidBodyException {
    assertThat(scan("{\"x\":1,\"x\":{\"model\":1,\"model\":2},\"stream\":true}").stream()).isTrue();
  }

  @Test
  void fieldsAreFoundBehindEscapes() throws InvalidBodyException {
    BodyScan body = scan("{\"\\u006dodel\":\"\\u0061\\/\\ud83e\\udd8a\\t\"}");
    assertThat(body.model()).isEqualTo("a/🦊\t");
  }

  @Test
  void limitsAreSaturated() throws InvalidBodyException {
    assertThat(scan("{\"max_output_tokens\":99999999999999999999}").maxOutputTokens())
        .isEqualTo(Integer.MAX_VALUE);
    assertThat(scan("{\"max_tokens\":-1}").maxOutputTokens()).isZero();
    assertThat(scan("{\"max_tokens\":1e2}").maxOutputTokens()).isEqualTo(100);
  }
}
