package io.kvasir.gateway.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.exchange.BodyBudget;
import io.kvasir.exchange.Headers;
import io.kvasir.gateway.keys.ClientKey;
import io.kvasir.gateway.keys.IssuedKey;
import io.kvasir.gateway.keys.KeyFile;
import io.kvasir.gateway.keys.KeyLimits;
import io.kvasir.gateway.keys.KeyRing;
import io.kvasir.gateway.keys.KeyUse;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.InvalidBodyException;
import io.kvasir.gateway.openai.NamedConversation;
import io.kvasir.model.CacheScope;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a key changes of the requests of its client. */
class KeyedRequestTest {

  @TempDir private Path folder;

  private KeyUse key(int priority, String salt) throws IOException {
    IssuedKey issued = IssuedKey.next(new SecureRandom());
    KeyLimits limits = new KeyLimits(List.of(), 0, 0, 0, priority);
    Path file = folder.resolve(issued.id());
    KeyFile.write(
        file, List.of(new ClientKey(issued.id(), issued.sha256(), "n", "t", limits, salt)));
    return new KeyRing(file, () -> 0).find(new Headers().add("x-api-key", issued.text()));
  }

  private static int priority(KeyUse key, String stated) throws InvalidBodyException {
    Headers headers = new Headers();
    if (!stated.isEmpty()) {
      headers.add("x-kvasir-priority", stated);
    }
    return Urgency.of(headers, key).priority();
  }

  @Test
  void aRequestCanOnlyLowerItsKeysPriority() throws Exception {
    KeyUse usual = key(0, null);
    assertThat(priority(usual, "")).isZero();
    assertThat(priority(usual, "5")).isZero();
    assertThat(priority(usual, "-5")).isEqualTo(-5);
    KeyUse urgent = key(7, null);
    assertThat(priority(urgent, "")).isEqualTo(7);
    assertThat(priority(urgent, "1000")).isEqualTo(7);
    assertThat(priority(urgent, "3")).isEqualTo(3);
    assertThat(priority(null, "1000")).isEqualTo(1000);
    assertThatThrownBy(() -> priority(urgent, "1001")).isInstanceOf(InvalidBodyException.class);
  }

  private static CacheScope scope(KeyUse key, Endpoint endpoint, String more)
      throws InvalidBodyException {
    byte[] body =
        ("{\"model\":\"m\",\"messages\":[]" + more + "}").getBytes(StandardCharsets.UTF_8);
    return new Inbound(
            "id",
            endpoint,
            new RequestHead("POST", endpoint.path(), new Headers(), "127.0.0.1", key),
            HeldBody.scanned(
                BodyScan.of(body, 0, body.length), new BodyBudget(1 << 20).open("127.0.0.1")),
            "m",
            false,
            NamedConversation.NONE,
            Urgency.NONE,
            false)
        .scope();
  }

  @Test
  void theBlocksOfATenantWithASaltAreItsOwn() throws Exception {
    KeyUse one = key(0, "salt-of-tenant-one");
    KeyUse two = key(0, "salt-of-tenant-two");
    Endpoint chat = Endpoint.CHAT_COMPLETIONS;
    assertThat(scope(key(0, null), chat, "")).isEqualTo(CacheScope.NONE);
    assertThat(scope(one, chat, "")).isEqualTo(scope(one, chat, "")).isNotEqualTo(CacheScope.NONE);
    assertThat(scope(one, chat, "")).isNotEqualTo(scope(two, chat, ""));
    String own = ",\"cache_salt\":\"mine\"";
    assertThat(scope(one, chat, own)).isNotEqualTo(scope(one, chat, ""));
    assertThat(scope(one, chat, own)).isNotEqualTo(scope(two, chat, own));
    assertThat(scope(one, Endpoint.MESSAGES, "")).isEqualTo(CacheScope.NONE);
  }
}
