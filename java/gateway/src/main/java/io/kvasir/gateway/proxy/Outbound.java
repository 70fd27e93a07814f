package io.kvasir.gateway.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.kvasir.exchange.Headers;
import io.kvasir.exchange.UpstreamRequest;
import io.kvasir.gateway.openai.BodyField;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.BodySplice;
import io.kvasir.gateway.openai.JsonText;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.tokens.PromptTokens;
import io.kvasir.gateway.tokens.TokenQuestions;
import io.kvasir.gateway.worker.Steering;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.URLEncoder;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Makes the request that a worker receives. Stateless. */
final class Outbound {

  private Outbound() {}

  /**
   * The request for one attempt. Removes the client's routing fields and adds the chosen rank in
   * the engine's syntax, or the conversation where the engine chooses the rank by that. A stream
   * that asks for no usage is made to ask for it. The prompt's tokens replace its text where the
   * engine does not need the text.
   */
  static UpstreamRequest request(Inbound inbound, ChosenTarget choice) {
    Headers headers = ForwardedHeaders.request(inbound.head(), inbound.id());
    inbound.trace().passOn(headers);
    FleetWorker worker = choice.worker();
    Steering steering =
        choice.dpRank() < 0 ? Steering.NONE : worker.steering(inbound.endpoint().path());
    String rank = Integer.toString(steering.number(choice.dpRank(), worker.profile().rankOffset()));
    if (steering.header()) {
      headers.set(ForwardedHeaders.DP_RANK, rank);
    }
    nameConversation(inbound, choice, headers);
    BodyScan scan = inbound.body();
    if (scan == null) {
      return withoutScan(inbound, headers);
    }
    BodySplice splice = new BodySplice(scan).removeRouting(inbound.passesTransfer());
    if (steering.bodyField() != null) {
      splice.set(BodyField.valueOf(steering.bodyField().toUpperCase(Locale.ROOT)), rank);
    }
    if (inbound.injectsUsage()) {
      splice.includeUsage(); // unless the leg's answer does not stream
    }
    if (inbound.head().key() != null) {
      splice.remove(BodyField.PRIORITY); // the class of its requests is the key's
    }
    if (inbound.head().isLimited() && scan.model() == null && !inbound.model().isEmpty()) {
      splice.set(BodyField.MODEL, JsonText.quoted(inbound.model())); // not the engine's default
    }
    String salt = inbound.tenantSalt() == null ? null : inbound.salt(scan);
    if (salt != null) {
      splice.set(BodyField.CACHE_SALT, JsonText.quoted(salt));
    }
    PromptTokens tokens = inbound.tokens();
    if (tokens != null
        && tokens.ids() != null
        && TokenQuestions.replacesPrompt(worker, inbound.endpoint().path(), scan, tokens)) {
      splice.set(BodyField.PROMPT, json(tokens.ids().get(0)));
    }
    choice.leg().applyTo(splice, headers);
    ByteBuf body = splice.build();
    headers.set("content-length", Integer.toString(body.readableBytes()));
    return request(inbound, headers, body);
  }

  /** Names the conversation, unless the client's request does so in the same header. */
  private static void nameConversation(Inbound inbound, ChosenTarget choice, Headers headers) {
    String header = choice.worker().conversationHeader();
    String named = header == null ? null : headers.get(header);
    if (header == null || (named != null && !named.isBlank())) {
      return;
    }
    String id = inbound.conversation().id();
    if (id == null) {
      id = choice.weighing().conversationId();
    }
    if (id != null) {
      headers.set(header, isVisible(id) ? id : URLEncoder.encode(id, UTF_8));
    }
  }

  /** Whether a header can have a text as it is. */
  private static boolean isVisible(String text) {
    return text.chars().allMatch(each -> each > ' ' && each <= '~');
  }

  /**
   * A request that must not be repeated must not use a connection that its engine may be closing.
   */
  private static UpstreamRequest request(Inbound inbound, Headers headers, @Nullable ByteBuf body) {
    return new UpstreamRequest(
        inbound.method(), inbound.target(), headers, body, !Repetition.afterSend(inbound));
  }

  private static String json(int[] tokens) {
    StringBuilder json = new StringBuilder(8 * tokens.length + 2).append('[');
    for (int i = 0; i < tokens.length; i++) {
      json.append(i == 0 ? "" : ",").append(tokens[i]);
    }
    return json.append(']').toString();
  }

  /** A request without a body, or with one that is no JSON. */
  private static UpstreamRequest withoutScan(Inbound inbound, Headers headers) {
    byte[] opaque = inbound.opaque();
    if (opaque != null) {
      headers.set("content-length", Integer.toString(opaque.length));
      return request(inbound, headers, Unpooled.wrappedBuffer(opaque));
    }
    String length = inbound.headers().get("content-length");
    if (inbound.upload() == null) {
      return request(inbound, headers, Unpooled.EMPTY_BUFFER);
    }
    if (length != null) {
      headers.set("content-length", length);
    }
    return request(inbound, headers, null);
  }
}
