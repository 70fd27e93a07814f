/** Step engines that prove which KV memory a step has read. */
package io.kvasir.testing.execute;
