// Package correlate finds the parked instance that a message is for.
//
// Owner L8 ([Correlator]). A message names a correlation key; the key's alias row names an instance and
// one of its waits. The row can be read by anybody at any time, so what it says is only a hint until it has been
// read again under the instance's claim. In between the instance may have been resumed, ended or
// parked elsewhere, and the key may belong to another instance.
package correlate
