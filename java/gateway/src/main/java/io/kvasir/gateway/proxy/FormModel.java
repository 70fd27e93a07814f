package io.kvasir.gateway.proxy;

import io.kvasir.gateway.openai.FormField;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The model that a form names. Engines take the last field of that name, wherever it is, so a form
 * is read to its end; and one of a client that may use some models only must have one meaning.
 *
 * <p>Confined to one thread at a time.
 */
final class FormModel {

  private final FormField field;
  private final RequestHead head;
  private final OwnAnswers answers;
  private final boolean clear;

  private FormModel(FormField field, RequestHead head, OwnAnswers answers, boolean clear) {
    this.field = field;
    this.head = head;
    this.answers = answers;
    this.clear = clear;
  }

  /** {@return the model of a body that has not been read yet; null if it is no form} */
  static @Nullable FormModel of(RequestHead head, OwnAnswers answers) {
    List<String> types = head.headers().all("content-type");
    String type = types.isEmpty() ? null : types.get(0);
    FormField field = FormField.of(type, NamedModel.FIELD);
    return field == null ? null : new FormModel(field, head, answers, types.size() == 1);
  }

  /** Continues with a part of the body, whose position stays. */
  void feed(ByteBuf bytes) {
    if (bytes.hasArray()) {
      int from = bytes.arrayOffset() + bytes.readerIndex();
      field.feed(bytes.array(), from, from + bytes.readableBytes());
    } else {
      byte[] copy = ByteBufUtil.getBytes(bytes);
      field.feed(copy, 0, copy.length);
    }
  }

  /** The body is complete. */
  void end() {
    field.end();
  }

  /** Whether the model was found, or cannot be found any more. */
  boolean isKnown() {
    return field.isKnown();
  }

  /** The model; null if none was found. */
  @Nullable String value() {
    return field.value();
  }

  /**
   * Why a body that is no JSON is refused; null if it is not.
   *
   * @param beginning its first bytes
   * @param form its model, by what was read of it; null if it is no form
   */
  static @Nullable Problem problem(ByteBuf beginning, @Nullable FormModel form) {
    if (BodyKinds.looksLikeJson(beginning)) {
      return Refusals.hiddenJson();
    }
    return form == null ? null : form.problem();
  }

  /** Why the form is refused, by what was read of it; null if it is not. */
  @Nullable Problem problem() {
    if (field.isRepeated()) {
      return NamedModel.repeated();
    }
    if (!head.isLimited()) {
      return null;
    }
    if (!clear || field.isUnclear()) {
      return Problem.invalid(
          NamedModel.FIELD,
          "with an API key for some models, a form must be such that all readers find the same"
              + " fields: nothing before its first part, line ends of CR and LF, and in each"
              + " Content-Disposition a name and a filename without backslashes");
    }
    String model = NamedModel.orNull(field.value());
    return model == null || head.allows(model) ? null : answers.unknownModel(model, head.key());
  }
}
