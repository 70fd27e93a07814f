/** Tests of the tokens of prompts. */
package io.kvasir.gateway.tokens;
