package io.kvasir.gateway.tokens;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A model's tokenizer and chat template in this process, as the engine has them. Thread-safe; no
 * method but {@link #close} blocks.
 */
public interface ModelTokens extends AutoCloseable {

  /** {@return where it comes from, for logs} */
  String name();

  /**
   * Whether it can make the tokens of an endpoint's requests.
   *
   * @param path the endpoint, for example {@code /v1/messages}
   * @return false if the model's files or their template do not say how
   */
  boolean serves(String path);

  /**
   * Makes the tokens of a request.
   *
   * @param path the endpoint
   * @param body the request as JSON
   * @param then receives the tokens once, on any thread, within this call or later; null if this
   *     request's cannot be made
   * @return false if too many wait already; {@code then} does not run
   */
  boolean make(String path, byte[] body, Consumer<@Nullable OwnPrompt> then);

  /**
   * Where a token stands in its prompt, in words without any text of the prompt.
   *
   * @param tokens a prompt
   * @param at an index
   * @return the segment between two special tokens, for example {@code segment 3}
   */
  String place(int[] tokens, int at);

  @Override
  void close();
}
