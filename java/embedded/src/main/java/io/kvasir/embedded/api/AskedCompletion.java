package io.kvasir.embedded.api;

import java.util.List;

/**
 * What a request asks a model to continue. Immutable.
 *
 * @param fields the request's fields
 * @param promptField the field that has the prompts, for errors
 * @param format the form of the reply
 * @param prompts the tokens of each prompt, at least one prompt
 * @param options what to generate for each prompt
 */
public record AskedCompletion(
    RequestFields fields,
    String promptField,
    AnswerFormat format,
    List<int[]> prompts,
    GenerationOptions options) {

  /** The field of text completions. */
  static final String PROMPT = "prompt";

  /** Whether the prompts in a field are conversations. */
  static boolean isChat(String promptField) {
    return !promptField.equals(PROMPT);
  }

  /** Whether the prompts are conversations. */
  public boolean chat() {
    return isChat(promptField);
  }

  /** Whether the reply is a stream of events. */
  public boolean streamed() {
    return fields.flag("stream", false);
  }
}
