package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyHold;
import io.kvasir.fleet.router.PromptSource;
import io.kvasir.gateway.openai.BodyScan;
import org.jspecify.annotations.Nullable;

/**
 * The body of one request: its bytes, and what they hold of the budget. Both go with one call.
 *
 * <p>Confined to the request's event loop.
 */
final class HeldBody {

  private final @Nullable BodyHold hold;
  private final @Nullable UploadStart upload;
  private @Nullable BodyScan scan;
  private byte @Nullable [] opaque;
  private PromptSource prompt;

  private HeldBody(
      @Nullable BodyScan scan,
      byte @Nullable [] opaque,
      @Nullable UploadStart upload,
      @Nullable BodyHold hold) {
    this.scan = scan;
    this.opaque = opaque;
    this.upload = upload;
    this.hold = hold;
    this.prompt = scan == null || hold == null ? BodyPrompt.UNREADABLE : BodyPrompt.of(scan, hold);
  }

  /** {@return the absence of a body} */
  static HeldBody none() {
    return new HeldBody(null, null, null, null);
  }

  /**
   * A body that was read.
   *
   * @param scan the body
   * @param hold what it holds of the budget
   * @return both
   */
  static HeldBody scanned(BodyScan scan, BodyHold hold) {
    return new HeldBody(scan, null, null, hold);
  }

  /**
   * A body that was read and is no JSON.
   *
   * @param bytes the body
   * @param hold what it holds of the budget
   * @return both
   */
  static HeldBody opaque(byte[] bytes, BodyHold hold) {
    return new HeldBody(null, bytes, null, hold);
  }

  /**
   * A body that is streamed unread.
   *
   * @param upload its beginning
   * @param hold what it holds of the budget
   * @return both
   */
  static HeldBody unread(UploadStart upload, BodyHold hold) {
    return new HeldBody(null, null, upload, hold);
  }

  /** The scanned body; null if there is none, it is streamed, or it was released. */
  @Nullable BodyScan scan() {
    return scan;
  }

  /** The bytes of a body that is no JSON; null if it is none, or was released. */
  byte @Nullable [] opaque() {
    return opaque;
  }

  /** The beginning of a body that is streamed unread; null if there is none. */
  @Nullable UploadStart upload() {
    return upload;
  }

  /** What the body holds of the budget; null without a body. */
  @Nullable BodyHold hold() {
    return hold;
  }

  /** The prompt, for routers; decoded once, when one needs it. */
  PromptSource prompt() {
    return prompt;
  }

  /** Drops the bytes and returns them to the budget: no attempt follows. May be repeated. */
  void release() {
    scan = null;
    opaque = null;
    prompt = BodyPrompt.UNREADABLE;
    if (upload != null) {
      upload.stop();
    }
    if (hold != null) {
      hold.release();
    }
  }
}
