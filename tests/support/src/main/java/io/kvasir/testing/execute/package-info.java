/** Step engines that verify which KV memory a step has read. */
package io.kvasir.testing.execute;
