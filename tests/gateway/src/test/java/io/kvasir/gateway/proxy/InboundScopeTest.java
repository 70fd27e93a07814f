package io.kvasir.gateway.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.exchange.BodyBudget;
import io.kvasir.exchange.Headers;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.InvalidBodyException;
import io.kvasir.gateway.openai.NamedConversation;
import io.kvasir.model.CacheScope;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** What separates the blocks of a request from those of others. */
class InboundScopeTest {

  private static Inbound inbound(boolean adapter, String more) throws InvalidBodyException {
    byte[] body =
        ("{\"model\":\"sql\",\"messages\":[]" + more + "}").getBytes(StandardCharsets.UTF_8);
    return new Inbound(
        "id",
        Endpoint.CHAT_COMPLETIONS,
        new RequestHead("POST", "/v1/chat/completions", new Headers(), "127.0.0.1"),
        HeldBody.scanned(
            BodyScan.of(body, 0, body.length), new BodyBudget(1 << 20).open("127.0.0.1")),
        "sql",
        adapter,
        NamedConversation.NONE,
        Urgency.NONE,
        false);
  }

  private static CacheScope scope(boolean adapter, String more) throws InvalidBodyException {
    return inbound(adapter, more).scope();
  }

  @Test
  void plainPromptsAreOfTextAndHaveNoScope() throws InvalidBodyException {
    assertThat(inbound(false, "").isPlain()).isTrue();
    assertThat(inbound(true, "").isPlain()).isFalse();
    assertThat(inbound(false, ",\"cache_salt\":\"tenant-a\"").isPlain()).isFalse();
    assertThat(inbound(false, ",\"system\":[{\"type\":\"image\"}]").isPlain()).isFalse();
    Inbound dropped = inbound(false, "");
    dropped.releaseBody();
    assertThat(dropped.isPlain()).isFalse();
  }

  @Test
  void fieldsThatCouldChangeThePromptAreNotPlain() throws InvalidBodyException {
    for (String plain :
        new String[] {"\"temperature\":0", "\"stream\":true", "\"seed\":1", "\"tools\":null"}) {
      assertThat(inbound(false, "," + plain).isPlain()).as(plain).isTrue();
    }
    for (String other :
        new String[] {
          "\"truncate_prompt_tokens\":33",
          "\"truncat\\u0065_prompt_tokens\":33",
          "\"a_field_of_tomorrow\":1",
          "\"chat_template\":\"x\"",
          "\"add_special_tokens\":false",
          "\"mm_processor_kwargs\":{}",
          "\"documents\":[]"
        }) {
      assertThat(inbound(false, "," + other).isPlain()).as(other).isFalse();
    }
  }

  @Test
  void adapterAndSaltAreItsParts() throws InvalidBodyException {
    String salt = ",\"cache_salt\":\"tenant-a\"";
    CacheScope lora = CacheScope.NONE.withLora(CacheScope.saltId("sql"));
    assertThat(scope(false, "")).isEqualTo(CacheScope.NONE);
    assertThat(scope(false, salt)).isEqualTo(CacheScope.NONE.withSalt("tenant-a"));
    assertThat(scope(true, "")).isEqualTo(lora);
    assertThat(scope(true, salt)).isEqualTo(lora.withSalt("tenant-a"));
  }

  @Test
  void theAdapterOfTheBodyGoesBeforeTheModel() throws InvalidBodyException {
    CacheScope chat = CacheScope.NONE.withLora(CacheScope.saltId("chat"));
    for (boolean adapter : new boolean[] {false, true}) {
      assertThat(scope(adapter, ",\"lora_path\":\"chat\"")).isEqualTo(chat);
      assertThat(scope(adapter, ",\"lora_path\":\"\"")).isEqualTo(scope(adapter, ""));
      assertThat(scope(adapter, ",\"lora_path\":null")).isEqualTo(scope(adapter, ""));
    }
    CacheScope list = scope(false, ",\"lora_path\":[\"chat\",null]");
    assertThat(list).isNotEqualTo(chat).isNotEqualTo(CacheScope.NONE);
    assertThat(inbound(false, ",\"lora_path\":\"chat\"").isPlain()).isFalse();
  }
}
