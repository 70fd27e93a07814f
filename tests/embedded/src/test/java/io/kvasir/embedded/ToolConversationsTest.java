package io.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.execute.RankPools;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A conversation with tools has one prompt, by whatever API it comes. */
class ToolConversationsTest {

  private static final String TOOLS =
      "<|tools|>\n"
          + "[{\"type\":\"function\",\"function\":{\"name\":\"Read\",\"description\":\"Reads.\","
          + "\"parameters\":{\"type\":\"object\"}}}]\n";
  private static final String CONVERSATION =
      "<|system|>\nBe brief.\n<|user|>\nOpen a\n<|assistant|>\nGladly.";
  private static final String RESULT = "<|tool|>\nits text\nmore\n<|assistant|>\n";

  private final EmbeddedEngine engine =
      EmbeddedEngine.open(
          EmbeddedSettings.builder("words").ranks(1).tokensPerBlock(16).poolTokens(4096).build(),
          RankPools.Place.HOST);
  private final EngineClient client = new EngineClient(engine);

  @AfterEach
  void close() {
    engine.close();
    client.close();
  }

  private String prompt(String path, String body) {
    JsonNode rendered = client.post(path + "/render", "{'model':'words'," + body + "}").json();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    rendered.path("token_ids").forEach(token -> bytes.write(token.asInt()));
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static String call(String id, String argument) {
    return "{\"id\":\""
        + id
        + "\",\"type\":\"function\",\"function\":{\"name\":\"Read\",\"arguments\":{\"path\":\""
        + argument
        + "\"}}}";
  }

  @Test
  void chats() {
    String call =
        "{'id':'c1','type':'function','function':{'name':'Read','arguments':'{\\'path\\':\\'a\\'}'}}";
    String body =
        "'tools':[{'type':'function','function':{'name':'Read','description':'Reads.',"
            + "'parameters':{'type':'object'}}}],'messages':[{'role':'system','content':'Be brief.'},"
            + "{'role':'user','content':'Open a'},{'role':'assistant','content':'Gladly.',"
            + "'tool_calls':["
            + call
            + "]},{'role':'tool','tool_call_id':'c1','content':'its text\\nmore'}]";
    assertThat(prompt("/v1/chat/completions", body))
        .isEqualTo(TOOLS + CONVERSATION + "[" + call("c1", "a") + "]\n" + RESULT);
  }

  @Test
  void messages() {
    String body =
        "'max_tokens':9,'system':[{'type':'text','text':'x-anthropic-billing-header: 7'},"
            + "{'type':'text','text':'Be brief.'}],'tools':[{'name':'Read','description':'Reads.',"
            + "'input_schema':{'type':'object'}}],'messages':[{'role':'user','content':'Open a'},"
            + "{'role':'assistant','content':[{'type':'text','text':'Gladly.'},{'type':'tool_use',"
            + "'id':'c1','name':'Read','input':{'path':'a'}}]},{'role':'user','content':["
            + "{'type':'tool_result','tool_use_id':'c1','content':[{'type':'text','text':'its text'},"
            + "{'type':'text','text':'more'}]}]}]";
    assertThat(prompt("/v1/messages", body))
        .isEqualTo(TOOLS + CONVERSATION + "[" + call("c1", "a") + "]\n" + RESULT);
  }

  @Test
  void responses() {
    String body =
        "'instructions':'Be brief.','tools':[{'type':'function','name':'Read',"
            + "'description':'Reads.','parameters':{'type':'object'}}],'input':["
            + "{'role':'user','content':'Open a'},{'type':'message','role':'assistant','content':["
            + "{'type':'output_text','text':'Gladly.'}]},{'type':'function_call','call_id':'c1',"
            + "'name':'Read','arguments':'{\\'path\\':\\'a\\'}'},{'type':'function_call_output',"
            + "'call_id':'c1','output':'its text\\nmore'}]";
    String call =
        "{\"id\":\"c1\",\"function\":{\"name\":\"Read\",\"arguments\":{\"path\":\"a\"}},"
            + "\"type\":\"function\"}";
    assertThat(prompt("/v1/responses", body))
        .isEqualTo(TOOLS + CONVERSATION + "[" + call + "]\n" + RESULT);
  }
}
