/** Models for tests of engines that compute. */
package io.kvasir.testing.llama;
