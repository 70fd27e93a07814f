package io.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.embedded.EngineClient.Reply;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.testing.harness.Fuzz;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Damaged requests get an answer or a refusal, never a failure of the engine. */
class EmbeddedFuzzTest {

  private static final List<String> PATHS =
      List.of(
          "/v1/chat/completions",
          "/v1/completions",
          "/v1/messages",
          "/v1/messages/count_tokens",
          "/v1/responses",
          "/v1/embeddings",
          "/tokenize",
          "/detokenize");

  private static final String BODY =
      "{'model':'words','messages':[{'role':'user','content':[{'type':'text','text':'a'},{}]},"
          + "{'role':'assistant','content':null,'tool_calls':[{'id':1}]}],'prompt':[[1,2],'b'],"
          + "'input':['c',[3]],'tokens':[97,300],'max_tokens':3,'max_output_tokens':2,'n':1,"
          + "'stop':['x','yy'],'stop_sequences':['z'],'seed':5,'stream':true,'system':'s',"
          + "'stream_options':{'include_usage':true},'tools':[{'type':'function'}],"
          + "'conversation_params':{'conversation_id':'k'},'data_parallel_rank':1,'priority':2,"
          + "'cache_salt':'salt','dimensions':4,'text':{'format':{'type':'text'}},'min_tokens':1}";

  private static final String[] VALUES = {
    "null",
    "true",
    "-1",
    "1.5",
    "99999999999999999999",
    "''",
    "[]",
    "{}",
    "[null]",
    "[[]]",
    "[1]",
    "'\\ud800'",
    "[{}]",
    "{'type':'text'}"
  };

  @Test
  @Tag("fuzz")
  void noBodyBreaksTheEngine() {
    try (EmbeddedEngine engine =
            EmbeddedEngine.open(
                EmbeddedSettings.builder("words").ranks(2).poolTokens(4096).speed(1e6).build(),
                RankPools.Place.HOST);
        EngineClient client = new EngineClient(engine)) {
      Fuzz.run("EmbeddedFuzzTest", random -> send(client, damaged(random)));
    }
  }

  private static void send(EngineClient client, String body) {
    for (String path : PATHS) {
      Reply reply = client.post(path, body);
      assertThat(reply.failure()).isNull();
      assertThat(reply.status()).as("%s, %s: %s", path, body, reply.text()).isIn(200, 400, 404);
    }
  }

  private static String damaged(Random random) {
    String body = BODY;
    for (int times = random.nextInt(3); times >= 0; times--) {
      int at = random.nextInt(body.length());
      switch (random.nextInt(4)) {
        case 0 -> body = body.substring(0, at) + body.substring(Math.min(body.length(), at + 3));
        case 1 ->
            body = body.substring(0, at) + (char) (32 + random.nextInt(95)) + body.substring(at);
        default -> {
          // Another value for a field.
          int colon = body.indexOf(':', at);
          int comma = body.indexOf(',', colon + 1);
          if (colon >= 0 && comma >= 0) {
            String value = VALUES[random.nextInt(VALUES.length)];
            body = body.substring(0, colon + 1) + value + body.substring(comma);
          }
        }
      }
    }
    return body;
  }
}
