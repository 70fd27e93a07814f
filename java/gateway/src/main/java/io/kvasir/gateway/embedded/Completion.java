package io.kvasir.gateway.embedded;

import java.util.List;

/**
 * A chat or text completion that a request asks for. Immutable.
 *
 * @param fields the request's fields
 * @param chat whether it is a chat
 * @param prompts the tokens of each prompt, at least one prompt
 * @param options what to generate for each prompt
 */
record Completion(
    RequestFields fields, boolean chat, List<int[]> prompts, GenerationOptions options) {

  /** The field that has the prompts, for errors. */
  String promptField() {
    return chat ? "messages" : "prompt";
  }

  /** Whether the reply is a stream of events. */
  boolean streamed() {
    return fields.flag("stream", false);
  }

  /** The form of the reply. */
  AnswerFormat format(String model) {
    RequestFields streamOptions = fields.object("stream_options");
    boolean usage = streamOptions != null && streamOptions.flag("include_usage", false);
    return new CompletionFormat(chat, model, usage);
  }
}
