/** Options as commands read them. */
package io.kvasir.cli.option;
