package io.kvasir.gateway;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Reads HTTP/1.1 messages from a socket, for both sides. Confined to one thread. */
final class HttpInput {

  private final InputStream in;
  private long bodyLeft;
  private boolean chunked;
  private boolean untilClose;

  HttpInput(InputStream in) {
    this.in = in;
  }

  /** The first line and the fields of a message; names in lower case. */
  record Head(String line, Map<String, List<String>> fields) {

    String field(String name) {
      List<String> values = fields.get(name);
      return values == null ? null : values.get(0);
    }

    int status() {
      return Integer.parseInt(line.split(" ", -1)[1]);
    }
  }

  /** Reads a head. Returns null if the connection was closed before its first byte. */
  Head head() throws IOException {
    String line = line();
    if (line == null) {
      return null;
    }
    Map<String, List<String>> fields = new LinkedHashMap<>();
    for (String field = line(); field != null && !field.isEmpty(); field = line()) {
      int colon = field.indexOf(':');
      fields
          .computeIfAbsent(
              field.substring(0, colon).toLowerCase(Locale.ROOT), any -> new ArrayList<>())
          .add(field.substring(colon + 1).strip());
    }
    Head head = new Head(line, fields);
    String length = head.field("content-length");
    chunked = "chunked".equalsIgnoreCase(head.field("transfer-encoding"));
    bodyLeft = length == null || chunked ? 0 : Long.parseLong(length);
    boolean reply = line.startsWith("HTTP/");
    boolean hasBody = !reply || (head.status() != 204 && head.status() != 304);
    untilClose = length == null && !chunked && reply && hasBody;
    return head;
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        if (line.size() == 0) {
          return null;
        }
        throw new EOFException("closed within the line " + line);
      }
      if (next != '\r') {
        line.write(next);
      }
    }
    return line.toString(StandardCharsets.ISO_8859_1);
  }

  /** The next byte of the body; -1 at its end; an {@link EOFException} if it is cut short. */
  int bodyByte() throws IOException {
    if (untilClose) {
      return in.read();
    }
    if (chunked && bodyLeft == 0 && !nextChunk()) {
      return -1;
    }
    if (bodyLeft == 0) {
      return -1;
    }
    int next = in.read();
    if (next < 0) {
      throw new EOFException("the body was cut short");
    }
    if (--bodyLeft == 0 && chunked) {
      line();
    }
    return next;
  }

  private boolean nextChunk() throws IOException {
    String size = line();
    if (size == null) {
      throw new EOFException("no last chunk");
    }
    bodyLeft = Long.parseLong(size, 16);
    if (bodyLeft == 0) {
      line();
      chunked = false;
      return false;
    }
    return true;
  }

  /** The rest of the body. */
  byte[] body() throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    for (int next = bodyByte(); next >= 0; next = bodyByte()) {
      body.write(next);
    }
    return body.toByteArray();
  }
}
