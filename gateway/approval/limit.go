package approval

import (
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// longest is how long a question waits that nobody need be there for, though the settings let questions wait for ever: else the job would never come to
// an end, and nor would the chat that the question was asked in. It is the longest time that can be set.
const longest = 24 * time.Hour

// Unattended reports whether what asks was begun by the clock, or by somebody on a channel, so that nobody need be there who could answer.
func Unattended(by protocol.AskedBy) bool {
	return by.Kind == protocol.AskedBySchedule || by.Kind == protocol.AskedByChannel
}

// Limit is how long a question by somebody may stay unanswered, as [Gate.Ask] takes it: 0 is for ever, which an unattended one never is.
func Limit(set config.Approvals, by protocol.AskedBy) time.Duration {
	limit := time.Duration(set.Timeout) * time.Millisecond
	if limit == 0 && Unattended(by) {
		return longest
	}
	return limit
}
