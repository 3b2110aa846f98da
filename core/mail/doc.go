// Package mail keeps messages that nobody waits for yet, until somebody does or their time is over. Its owner is [Box] (L16).
//
// A kept message is a row that was written in the transaction which took the delivery in, so a delivery that is kept is as
// durable as one that took effect. It leaves in the transaction of the step that it causes, or expires.
package mail
