/**
 * What tests of collectives share: the contract of every collective, one whose members are threads
 * of one process, and members that run in threads.
 */
package io.kvasir.testing.lockstep;
