package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/store"
)

// separator joins names that the store keeps as one. XML knows no such character, so no process id contains it.
const separator = "\x1f"

// aliasChannel is the name under which the waits of one flow for a message are found: a message reaches each flow once, and every
// flow. With the empty message it is the name under which the flow holds its business keys.
func aliasChannel(flow, message string) string { return flow + separator + message }

// MessageOf returns the message name of a wait in the store, without the flow that it is for.
func MessageOf(channel string) string {
	_, message, _ := strings.Cut(channel, separator)
	return message
}

// The channels of what comes from inside of the engine. No package can name one like them.
const (
	thrownChannel   = separator + "thrown"
	startedChannel  = separator + "started"
	mailChannel     = separator + "mail"
	scheduleChannel = separator + "schedule"
)

// The first letters of ids of rows that are not instances of a flow that somebody started.
const (
	mailPrefix     = "mail-"
	schedulePrefix = "schedule-"
)

// Internal reports whether the row is one that the engine keeps for itself: a captured message, a role.
func Internal(id store.InstanceID) bool {
	return strings.HasPrefix(string(id), mailPrefix) || strings.HasPrefix(string(id), claim.RolePrefix)
}

// IsSchedule reports whether the instance is one that a timer start event waits in.
func IsSchedule(id store.InstanceID) bool { return strings.HasPrefix(string(id), schedulePrefix) }

// digest is a short name for some texts, whose lengths keep them apart.
func digest(parts ...string) string {
	var all strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&all, "%d:%s", len(p), p)
	}
	sum := sha256.Sum256([]byte(all.String()))
	return hex.EncodeToString(sum[:12])
}

// SpawnID returns the id of the instance that a delivery starts.
func SpawnID(d store.Delivery) store.InstanceID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s%s", len(d.Channel), d.Channel, d.ID))
	return store.InstanceID(hex.EncodeToString(sum[:12]))
}

func mailID(d store.Delivery) store.InstanceID { return store.InstanceID(mailPrefix) + SpawnID(d) }

func scheduleID(deployment, flow, element string) store.InstanceID {
	return store.InstanceID(schedulePrefix + digest(deployment, flow, element))
}
