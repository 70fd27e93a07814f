/**
 * The bodies of the OpenAI API, and of the Anthropic and Responses APIs: requests are scanned and
 * spliced, replies are split into events. Bodies stay bytes; no tree is built.
 */
@NullMarked
package io.kvasir.gateway.openai;

import org.jspecify.annotations.NullMarked;
