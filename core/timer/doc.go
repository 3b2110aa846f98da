// Package timer brings due waits to the lanes of their instances.
//
// Owner L10 ([Timers]). A timer is the due row of an open wait: the commit of a step writes it and the commit
// that closes the wait removes it, so what is due is always read from the store and never only
// remembered here. That is why a timer that was due while the node was down needs no care of its own.
package timer
