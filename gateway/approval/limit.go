package approval

import (
	"context"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// maxUnattendedWait is the time after which an unattended run's approval expires even if the
// settings let approvals wait forever. Otherwise neither the job nor its chat could continue. It is
// the longest time that can be set.
const maxUnattendedWait = 24 * time.Hour

// answeredByNobody is the AnsweredBy of an expired approval.
const answeredByNobody = "nobody"

// reasonUnattended is the reason of an approval that expired at once, as the one before had.
const reasonUnattended = "nobody answered the question before"

// Unattended reports whether a run was started by a schedule or by somebody on a channel, so that
// nobody may be there to answer. Such a run waits at its first approval until that is answered or
// expires. After an expiry, its later approvals expire immediately; otherwise each step of the run
// would wait as long again and block its job and its chat for hours. The run continues, because it
// can still do what needs no approval and report the rest. An answer in between shows that somebody
// is there.
func Unattended(by protocol.AskedBy) bool {
	return by.Kind == protocol.AskedBySchedule || by.Kind == protocol.AskedByChannel
}

// expireUnattended closes an approval that need not be shown, and stores it: see [Unattended].
func (m *Manager) expireUnattended(ctx context.Context, a *protocol.Approval) (bool, error) {
	if a.RunID == "" || !Unattended(a.AskedBy) {
		return false, nil
	}
	gone, err := m.store.Unanswered(ctx, a.RunID)
	if err != nil || !gone {
		return false, err
	}
	a.State, a.AnsweredBy, a.Reason = protocol.ApprovalExpired, answeredByNobody, reasonUnattended
	a.ExpiresAt, a.AnsweredAt = a.CreatedAt, a.CreatedAt
	if err := m.store.Put(context.WithoutCancel(ctx), *a); err != nil {
		return true, err
	}
	m.publish(*a)
	return true, nil
}

// Limit returns the time until an approval for a caller expires, as [Manager.Ask] takes it. 0 means
// never, which an unattended run does not get.
func Limit(set config.Approvals, by protocol.AskedBy) time.Duration {
	limit := time.Duration(set.Timeout) * time.Millisecond
	if limit == 0 && Unattended(by) {
		return maxUnattendedWait
	}
	return limit
}
