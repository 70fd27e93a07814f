package io.kvasir.gateway.openai;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds the session in {@code metadata.user_id} of Anthropic's clients, which is an id with parts,
 * {@code user_..._account_..._session_ID}, or a text of JSON with a member {@code session_id}. Any
 * other user id names a user, whose conversations are many. Stateless.
 */
final class UserSession {

  private static final JsonFactory JSON = new JsonFactory();
  private static final String USER = "user_";
  private static final String SESSION = "_session_";
  private static final Pattern ID = Pattern.compile("[A-Za-z0-9._~-]+");
  private static final String MEMBER = "session_id";

  private UserSession() {}

  /** The session; null if there is none, or it is no proper id. */
  static @Nullable String of(@Nullable String userId) {
    if (userId == null) {
      return null;
    }
    int at = userId.startsWith(USER) ? userId.lastIndexOf(SESSION) : -1;
    String last = at < USER.length() ? "" : userId.substring(at + SESSION.length());
    String id = ID.matcher(last).matches() ? last : inJson(userId.strip());
    return id == null
            || id.isBlank()
            || id.length() > ConversationId.MAX_CHARACTERS
            || id.chars().anyMatch(Character::isISOControl)
        ? null
        : id.strip();
  }

  private static @Nullable String inJson(String text) {
    if (!text.startsWith("{")) {
      return null;
    }
    try (JsonParser parser = JSON.createParser(text)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        JsonToken value = parser.nextToken();
        if (name.equals(MEMBER) && value == JsonToken.VALUE_STRING) {
          return parser.getText();
        }
        parser.skipChildren();
      }
    } catch (IOException e) {
      return null; // not what these clients write
    }
    return null;
  }
}
