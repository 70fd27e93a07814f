/** Tests of llama.cpp as an engine. */
package io.kvasir.llama;
