package group_test

import (
	"github.com/millrace-dev/millrace/core/store/group"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// S3 is the group commit of L6: what its members are told.
var _ = inventory.Owner("S3", "group commit", (*group.Store)(nil),
	inventory.Sim("S3/every-member-is-told-the-truth", "S3/only-the-guilty-fails", "S3/attempts-at-one-spawn",
		"S3/stop-refuses-for-good", "S3/groups-hold-their-bound"),
	inventory.Spec("S3/trace-of-lost-answers", "S3/trace-of-guilty-members"),
	inventory.Mutant("retry-on-unknown", "members are sent again singly when the outcome of their group is unknown",
		inventory.RejectedBy("S3/every-member-is-told-the-truth", "assertion S3.I2")),
	inventory.Mutant("unknown-is-failed", "members are told a definite failure when the outcome of their group is unknown",
		inventory.RejectedBy("S3/every-member-is-told-the-truth", "assertion S3.I2")),
	inventory.Mutant("stopped-queue-has-room", "a commit after the stop goes into the queue, where nobody takes it",
		inventory.RejectedBy("S3/stop-refuses-for-good", "assertion S3.stop")),
	inventory.Mutant("most-and-one", "a group has one member more than may be",
		inventory.RejectedBy("S3/groups-hold-their-bound", "assertion S3.I4")),
	inventory.Mutant("all-fail", "a refusal of the group is told to every member",
		inventory.RejectedBy("S3/only-the-guilty-fails", "assertion S3.I3"),
		inventory.RejectedBy("S3/trace-of-guilty-members", "mismatch Group.Conclude")),
	inventory.Mutant("fenced-is-committed", "members whose claim is lost are told committed with their group",
		inventory.RejectedBy("S3/every-member-is-told-the-truth", "assertion S3.I1")),
	inventory.Reason(inventory.LaneExhaustive, "three lanes, a leader and a store have too many schedules; the decision of one member is searched exhaustively for L6"),
	inventory.Reason(inventory.LaneModel, "no state of its own: the members' steps are judged against the model of L6"),
	inventory.Reason(inventory.LaneLinear, "as for the model; L6 judges histories of decided steps"),
	inventory.Reason(inventory.LaneDeadlock, "no lock; a leader never waits for a member"),
)
