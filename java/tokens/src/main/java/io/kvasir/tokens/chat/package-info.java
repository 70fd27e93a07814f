/**
 * What a chat template is given for a request: the messages and tools that vLLM makes of chats, of
 * Anthropic's messages and of OpenAI's responses.
 */
@NullMarked
package io.kvasir.tokens.chat;

import org.jspecify.annotations.NullMarked;
