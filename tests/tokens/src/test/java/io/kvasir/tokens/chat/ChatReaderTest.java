package io.kvasir.tokens.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests become the messages that vLLM gives to its templates. */
class ChatReaderTest {

  private static final String CHAT = "/v1/chat/completions";
  private static final String MESSAGES = "/v1/messages";
  private static final String RESPONSES = "/v1/responses";
  private static final ObjectMapper JSON = new ObjectMapper();

  private static ChatInput read(String path, String body, boolean parts)
      throws UnclearRequestException {
    byte[] bytes = body.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    return ChatReader.read(path, ChatReader.parse(bytes), parts);
  }

  /** The order of fields counts, because templates print it. */
  private static void same(Object value, String expected) throws JsonProcessingException {
    assertThat(JSON.writeValueAsString(value)).isEqualTo(expected.replace('\'', '"'));
  }

  @Test
  void contentsAreTextsOrParts() throws Exception {
    String body =
        "{'messages':[{'content':'a','role':'system'},{'role':'user','content':[{'type':'text',"
            + "'text':'b'},'c',{'type':'input_text','text':'d'}],'name':'n'},"
            + "{'role':'assistant','content':null}]}";
    same(
        read(CHAT, body, false).messages(),
        "[{'role':'system','content':'a'},{'role':'user','content':'b\\nc\\nd','name':'n'},"
            + "{'role':'assistant','content':''}]");
    same(
        read(CHAT, body, true).messages(),
        "[{'role':'system','content':[{'type':'text','text':'a'}]},{'role':'user','content':"
            + "[{'type':'text','text':'b'},{'type':'text','text':'c'},{'type':'text','text':'d'}],"
            + "'name':'n'},{'role':'assistant','content':[]}]");
  }

  @Test
  void argumentsOfCallsAreObjects() throws Exception {
    String body =
        "{'messages':[{'role':'assistant','tool_calls':[{'id':'1','type':'function','function':"
            + "{'name':'f','arguments':'{\\'x\\': [1, 2.5, null]}'}},{'id':'2','function':"
            + "{'arguments':'','name':'g'}}],'reasoning_content':'hm'},"
            + "{'role':'tool','tool_call_id':'1','content':'ok'}]}";
    same(
        read(CHAT, body.replace("\\'", "\\\""), false).messages(),
        "[{'role':'assistant','content':'','tool_calls':[{'id':'1','type':'function','function':"
            + "{'name':'f','arguments':{'x':[1,2.5,null]}}},{'id':'2','function':"
            + "{'arguments':{},'name':'g'}}],'reasoning':'hm','reasoning_content':'hm'},"
            + "{'role':'tool','content':'ok','tool_call_id':'1'}]");
  }

  @Test
  void toolsHaveTheOrderOfVllmsModels() throws Exception {
    String body =
        "{'messages':[],'tools':[{'function':{'strict':true,'parameters':{'type':'object'},"
            + "'name':'f'},'type':'function'}]}";
    same(
        read(CHAT, body, false).tools(),
        "[{'type':'function','function':{'name':'f','description':null,'parameters':"
            + "{'type':'object'},'strict':true}}]");
    assertThat(read(CHAT, "{'messages':[],'tools':[]}", false).tools()).isNull();
  }

  @Test
  void variablesComeFromTheRequest() throws Exception {
    ChatInput input =
        read(
            CHAT,
            "{'messages':[],'chat_template_kwargs':{'enable_thinking':false},"
                + "'reasoning_effort':'low','add_generation_prompt':false,'documents':[{'t':1}]}",
            false);
    same(input.variables(), "{'enable_thinking':false,'reasoning_effort':'low'}");
    same(input.documents(), "[{'t':1}]");
    assertThat(input.addGenerationPrompt()).isFalse();
    assertThat(input.context(java.util.Map.of("bos_token", "<s>")))
        .containsEntry("bos_token", "<s>")
        .containsEntry("enable_thinking", false)
        .containsEntry("tools", null)
        .containsKey("messages");
  }

  @Test
  void anthropicsBlocksBecomeMessages() throws Exception {
    String body =
        "{'system':[{'type':'text','text':'x-anthropic-billing-header: cch=1;'},{'type':'text',"
            + "'text':'You '},{'type':'text','text':'help.','cache_control':{'type':'ephemeral'}}],"
            + "'messages':[{'role':'user','content':'hi'},{'role':'assistant','content':["
            + "{'type':'thinking','thinking':'hm','signature':'s'},{'type':'text','text':'yes'},"
            + "{'type':'tool_use','id':'t1','name':'f','input':{'x':1}}]},{'role':'user','content':["
            + "{'type':'tool_result','tool_use_id':'t1','content':[{'type':'text','text':'r1'},"
            + "{'type':'text','text':'r2'}]},{'type':'text','text':'go'},{'type':'text','text':'on'}]},"
            + "{'role':'user','content':[{'type':'tool_result','tool_use_id':'t2'}]}],"
            + "'tools':[{'name':'f','input_schema':{'type':'object'},'description':'d'}]}";
    ChatInput input = read(MESSAGES, body, false);
    same(
        input.messages(),
        "[{'role':'system','content':'You help.'},{'role':'user','content':'hi'},"
            + "{'role':'assistant','content':'yes','tool_calls':[{'id':'t1','type':'function',"
            + "'function':{'name':'f','arguments':{'x':1}}}],'reasoning':'hm',"
            + "'reasoning_content':'hm'},{'role':'tool','content':'r1\\nr2','tool_call_id':'t1'},"
            + "{'role':'user','content':'go\\non'},{'role':'tool','content':'','tool_call_id':'t2'}]");
    same(
        input.tools(),
        "[{'type':'function','function':{'name':'f','description':'d','parameters':"
            + "{'type':'object'}}}]");
  }

  @Test
  void itemsOfResponsesBecomeMessages() throws Exception {
    String body =
        "{'instructions':'Help.','input':[{'role':'user','content':[{'type':'input_text',"
            + "'text':'hi'}]},{'role':'assistant','content':'I look.'},{'type':'function_call',"
            + "'call_id':'c','name':'f','arguments':'{}'},"
            + "{'type':'function_call','call_id':'d','name':'g','arguments':'{}'},"
            + "{'type':'function_call_output','call_id':'c','output':'r'},{'type':'message',"
            + "'role':'assistant','content':[{'type':'output_text','text':'done'}]}],"
            + "'tools':[{'type':'function','name':'f','parameters':{},'strict':false}],"
            + "'reasoning':{'effort':'high'}}";
    ChatInput input = read(RESPONSES, body, false);
    same(
        input.messages(),
        "[{'role':'system','content':'Help.'},{'role':'user','content':'hi'},{'role':'assistant',"
            + "'content':'I look.','tool_calls':[{'id':'c','function':{'name':'f','arguments':{}},"
            + "'type':'function'},{'id':'d','function':{'name':'g','arguments':{}},'type':"
            + "'function'}]},{'role':'tool','content':'r','tool_call_id':'c'},"
            + "{'role':'assistant','content':'done'}]");
    same(
        input.tools(),
        "[{'type':'function','function':{'name':'f','description':null,'parameters':{},"
            + "'strict':false}}]");
    same(input.variables(), "{'enable_thinking':true,'reasoning_effort':'high'}");
    same(read(RESPONSES, "{'input':'hi'}", false).messages(), "[{'role':'user','content':'hi'}]");
  }

  @Test
  void anAnswerThatGoesOnIsCutBehindItsBeginning() throws Exception {
    ChatInput input =
        read(
            CHAT,
            "{'messages':[{'role':'user','content':'q'},{'role':'assistant','content':' a b '}],"
                + "'continue_final_message':true,'add_generation_prompt':false}",
            false);
    assertThat(input.cut("<q><a b ></s>")).isEqualTo("<q><a b"); // blanks in front are not there
    assertThat(input.cut("<q><a b></s>")).isEqualTo("<q><a b");
    ChatInput flush =
        read(
            CHAT,
            "{'messages':[{'role':'assistant','content':'a b '}],'continue_final_message':true}",
            false);
    assertThat(flush.cut("<a b ><a b ></s>")).isEqualTo("<a b ><a b ");
    assertThat(flush.cut("<a b></s>")).isEqualTo("<a b");
    assertThatThrownBy(() -> input.cut("<q>")).isInstanceOf(UnclearRequestException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[]",
        "{",
        "{'messages':7}",
        "{'messages':['a']}",
        "{'messages':[{'role':'user','content':[{'type':'image_url','image_url':{'url':'u'}}]}]}",
        "{'messages':[{'role':'user','content':7}]}",
        "{'messages':[{'role':'assistant','tool_calls':[{'function':{'arguments':'{'}}]}]}",
        "{'messages':[],'chat_template':'x'}",
        "{'messages':[],'truncate_prompt_tokens':9}",
        "{'messages':[{'role':'developer','content':'x'}]}",
        "{'messages':[],'tools':[7]}",
        "{'messages':[],'add_generation_prompt':'yes'}"
      })
  void whatIsNotClearIsNotGuessed(String body) {
    assertThatThrownBy(() -> read(CHAT, body, false)).isInstanceOf(UnclearRequestException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'input':'a','previous_response_id':'r'}",
        "{'input':[{'type':'web_search_call'}]}",
        "{'input':[{'role':'assistant','content':'x','status':'incomplete'}]}",
        "{'input':[{'type':'function_call_output','call_id':'c'}]}",
        "{'input':'a','tools':[{'type':'web_search'}]}"
      })
  void storedResponsesAndOtherToolsAreNotGuessed(String body) {
    assertThatThrownBy(() -> read(RESPONSES, body, false))
        .isInstanceOf(UnclearRequestException.class);
  }

  @Test
  void theLastPlaceIsFoundInOnePass() {
    Random random = new Random(5);
    for (int i = 0; i < 20_000; i++) {
      String text = letters(random, random.nextInt(30));
      String part = letters(random, 1 + random.nextInt(5));
      assertThat(Text.lastIndexOf(text, part))
          .as("%s in %s", part, text)
          .isEqualTo(text.lastIndexOf(part));
    }
    String many = "a".repeat(2_000_000);
    assertThat(Text.lastIndexOf(many, "x" + many.substring(1_000_000))).isEqualTo(-1);
    assertThat(Text.strip("\u00a0\u0085 a b\u2003\n")).isEqualTo("a b");
  }

  private static String letters(Random random, int count) {
    StringBuilder letters = new StringBuilder();
    random.ints(count, 'a', 'c').forEach(letters::appendCodePoint);
    return letters.toString();
  }
}
