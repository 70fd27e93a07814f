package io.kvasir.gateway.openai;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Makes a new body of some fields of another. Stateless. */
public final class BodyExcerpt {

  private BodyExcerpt() {}

  /**
   * Copies fields, in the order given; those that are missing or null are left out. O(bytes).
   *
   * @param body the scan of the other body
   * @param fields the fields
   * @return a JSON object
   */
  public static byte[] of(BodyScan body, List<BodyField> fields) {
    ByteArrayOutputStream json = begin(body, fields);
    json.write('}');
    return json.toByteArray();
  }

  /**
   * Copies fields, and adds one.
   *
   * @param body the scan of the other body
   * @param fields the fields to copy
   * @param added a field that is not among them
   * @param value its value as valid JSON
   * @return a JSON object
   */
  public static byte[] of(BodyScan body, List<BodyField> fields, BodyField added, String value) {
    ByteArrayOutputStream json = begin(body, fields);
    String member = (json.size() == 1 ? "\"" : ",\"") + added.key() + "\":" + value + "}";
    json.writeBytes(member.getBytes(StandardCharsets.UTF_8));
    return json.toByteArray();
  }

  private static ByteArrayOutputStream begin(BodyScan body, List<BodyField> fields) {
    ByteArrayOutputStream json = new ByteArrayOutputStream();
    json.write('{');
    for (BodyField field : fields) {
      JsonMember member = body.member(field);
      if (member != null) {
        String key = (json.size() == 1 ? "\"" : ",\"") + field.key() + "\":";
        json.writeBytes(key.getBytes(StandardCharsets.US_ASCII));
        json.write(body.bytes(), member.value(), member.end() - member.value());
      }
    }
    return json;
  }
}
