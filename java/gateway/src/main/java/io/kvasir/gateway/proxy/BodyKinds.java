package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Headers;
import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.Locale;

/** Which bodies are read. Stateless. */
final class BodyKinds {

  /** White space, and the bytes of UTF-16, UTF-32 and byte order marks. */
  private static final String BEFORE_JSON = " \t\r\n\0\u00ef\u00bb\u00bf\u00fe\u00ff";

  /** Bytes of 0 in a row that a text of UTF-32 can begin with; sound begins with more. */
  private static final int MAX_NULLS = 3;

  private BodyKinds() {}

  /** Whether a request has a body. */
  static boolean hasBody(Headers headers) {
    String length = headers.get("content-length");
    return (length != null && !length.equals("0")) || headers.get("transfer-encoding") != null;
  }

  /**
   * Whether an engine may read a body as JSON: its type says so, there is none, or there are
   * several and one does.
   */
  static boolean isJson(Headers headers) {
    List<String> types = headers.all("content-type");
    return types.isEmpty() || types.stream().anyMatch(BodyKinds::isJson);
  }

  private static boolean isJson(String type) {
    if (type.equals("application/json")) {
      return true; // nearly always
    }
    int parameters = type.indexOf(';');
    String name = (parameters < 0 ? type : type.substring(0, parameters)).toLowerCase(Locale.ROOT);
    return name.isBlank() || name.contains("json");
  }

  /**
   * Whether a body may be JSON by its beginning, which engines can read as such whatever its type
   * says: an object or an array in any Unicode encoding, or nothing yet that says otherwise.
   *
   * @param beginning the first bytes; not changed
   */
  static boolean looksLikeJson(ByteBuf beginning) {
    int nulls = 0;
    for (int i = beginning.readerIndex(); i < beginning.writerIndex(); i++) {
      int each = beginning.getUnsignedByte(i);
      nulls = each == 0 ? nulls + 1 : 0;
      if (nulls > MAX_NULLS || BEFORE_JSON.indexOf(each) < 0) {
        return each == '{' || each == '[';
      }
    }
    return beginning.isReadable();
  }
}
