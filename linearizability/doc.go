// Package linearizability judges histories: the calls and returns that concurrent tasks saw, against a sequential
// specification of the owner they called, with porcupine.
package linearizability
