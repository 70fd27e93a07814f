package io.kvasir.gateway.openai;

/**
 * Where a member of an object is, as indexes of the array. Immutable.
 *
 * @param start of the key's opening quote
 * @param value of the value's first byte
 * @param end after the value
 * @param escaped whether the value is a string with escapes
 */
record JsonMember(int start, int value, int end, boolean escaped) {

  /**
   * The range that removes this member from its object: with the comma before it, or else with the
   * comma behind it.
   *
   * @param bytes the array
   * @param removedTo end of the range that was removed last, which can hold the comma before this
   *     member
   * @return first index, and index after the last
   */
  int[] cut(byte[] bytes, int removedTo) {
    int before = start - 1;
    while (JsonCursor.isWhitespace(bytes[before])) {
      before--;
    }
    if (bytes[before] == ',' && before >= removedTo) {
      return new int[] {before, end};
    }
    int behind = end;
    while (JsonCursor.isWhitespace(bytes[behind])) {
      behind++;
    }
    return new int[] {start, bytes[behind] == ',' ? behind + 1 : end};
  }

  /**
   * Whether the value is null.
   *
   * @param bytes the array
   * @return whether it is
   */
  boolean isNull(byte[] bytes) {
    return bytes[value] == 'n';
  }

  /**
   * Decodes the value of a string.
   *
   * @param bytes the array
   * @return the text
   */
  String text(byte[] bytes) {
    return JsonText.decode(bytes, value, end, escaped);
  }
}
