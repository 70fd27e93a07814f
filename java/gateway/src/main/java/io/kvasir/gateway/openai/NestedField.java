package io.kvasir.gateway.openai;

/** Members of objects in the body that the gateway reads. */
enum NestedField {
  /** Whether a stream ends with the number of tokens. */
  INCLUDE_USAGE(BodyField.STREAM_OPTIONS),
  /** The conversation's name. */
  CONVERSATION_ID(BodyField.CONVERSATION_PARAMS),
  /** The name of the conversation of a sub-agent's parent. */
  SUBAGENT_AFFINITY_ID(BodyField.CONVERSATION_PARAMS),
  /** The conversation's name, given by the client's software. */
  THREAD_ID(BodyField.CLIENT_METADATA),
  /** The session's name, given by the client's software. */
  SESSION_ID(BodyField.CLIENT_METADATA),
  /** Any value; Anthropic's clients put their session into it. */
  USER_ID(BodyField.METADATA);

  static final NameTable<NestedField> TABLE = new NameTable<>(NestedField.class);

  final BodyField parent;
  final String path;

  NestedField(BodyField parent) {
    this.parent = parent;
    this.path = parent.key() + "." + NameTable.name(this);
  }
}
