/** Tests of the processes that serve HTTP, with clients and servers that others wrote. */
package io.kvasir.cli.serve;
