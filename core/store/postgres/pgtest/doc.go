// Package pgtest runs a private PostgreSQL server for tests and benchmarks: in a directory of its own, on a unix socket, for as
// long as the process that started it lives. It is the server that Debian's package postgresql installs, or the one on the PATH.
package pgtest
