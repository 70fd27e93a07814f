package io.kvasir.gateway.openai;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The tokens that are expected of prompts with images and the like. */
class OtherContentTest {

  private static final String BASE64 = "iVBORw0KGgoAAAANSUhEUgAA".repeat(50_000);

  private static long tokens(String member) throws InvalidBodyException {
    byte[] body = ("{" + member.replace('\'', '"') + "}").getBytes(StandardCharsets.UTF_8);
    return BodyScan.of(body, 0, body.length).prompt().estimatedTokens();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'messages':[{'role':'user','content':[{'type':'image_url','image_url':{'url':'data:%s'}}]}]",
        "'messages':[{'content':[{'type':'image','source':{'type':'base64','data':'%s'}}]}]",
        "'messages':[{'content':[{'type':'tool_result','content':[{'source':{'data':'%s'}}]}]}]",
        "'messages':[{'content':[{'type':'input_audio','input_audio':{'data':'%s'}}]}]",
        "'messages':[{'content':[{'type':'file','file':{'file_data':'%s'}}]}]",
        "'input':[{'role':'user','content':[{'type':'input_image','image_url':'data:%s'}]}]",
        "'input':[{'type':'computer_call_output','output':{'image_url':'%s'}}]",
      })
  void anImageCountsTheSameWhateverItsSize(String member) throws InvalidBodyException {
    long small = tokens(member.formatted("a"));
    assertThat(small).isBetween(1_024L, 1_064L);
    assertThat(tokens(member.formatted(BASE64))).isEqualTo(small);
  }

  @Test
  void textsCountByTheirBytes() throws InvalidBodyException {
    long quarter = BASE64.length() / 4;
    for (String member :
        new String[] {
          "'prompt':'%s'",
          "'messages':[{'role':'user','content':'%s'}]",
          "'messages':[{'content':[{'type':'text','text':'data:%s'}]}]",
          "'messages':[{'content':[{'type':'tool_use','input':{'file':'%s'}}]}]",
        }) {
      assertThat(tokens(member.formatted(BASE64))).isBetween(quarter, quarter + 40);
    }
  }
}
