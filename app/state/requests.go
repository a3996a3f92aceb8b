package state

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// Questions answers the questions other than approvals.
type Questions struct{ app *App }

// Answer answers a question, which leaves the view at once and returns after a failure.
func (s Questions) Answer(q protocol.Question, p protocol.QuestionAnswerParams) {
	p.ID, p.Hash = q.ID, q.Hash
	s.app.Feed.Questions.Update(func(now *feed.Questions) { now.StartAnswer(q.ID) })
	s.app.Tasks.StartRequest(func(ctx context.Context) {
		r, err := feed.Call(ctx, s.app, protocol.QuestionAnswer, p)
		switch {
		case err != nil:
			s.app.Tasks.Fail(fmt.Errorf("your answer was not accepted: %w", err))
			if now, err := feed.Call(ctx, s.app, protocol.QuestionGet, protocol.QuestionParams{ID: q.ID}); err == nil {
				q = now
			}
			s.app.Feed.Questions.Update(func(now *feed.Questions) { now.EndAnswer([]protocol.QuestionID{q.ID}, q) })
		case !r.Won:
			s.app.Notify("info", "This question was already answered: "+question.OutcomeText(r.Question)+".")
		}
	})
}

// Outcomes of an invitation.
const (
	InviteOpen   = "open"
	InvitePaired = "paired" // a device used it
	InviteEnded  = "ended"  // it expired, or its request was denied
)

// InviteOutcome returns what became of an invitation, and the device that was paired with it.
func InviteOutcome(v feed.View, i protocol.DeviceInvite, now time.Time) (string, protocol.Device) {
	p := v.Pairing
	d, paired := lists.Find(p.Devices, func(d protocol.Device) bool {
		return d.Role == i.Role && d.PairedAt >= i.CreatedAt && d.RevokedAt == 0
	})
	isOpen := i.ExpiresAt > now.UnixMilli() && slices.ContainsFunc(p.Invites, func(o protocol.DeviceInvite) bool { return o.ID == i.ID }) ||
		slices.ContainsFunc(v.Questions.Pending.Of(protocol.AskPair, protocol.AskWiden), func(q protocol.Question) bool { return q.Pairing.Invite == i.ID })
	switch {
	case isOpen:
		return InviteOpen, protocol.Device{}
	case paired:
		return InvitePaired, d
	}
	return InviteEnded, protocol.Device{}
}

// RequestText says what a device asks for.
func RequestText(r protocol.Question, now time.Time) string {
	_, text := display.Request(r)
	if r.Kind == protocol.AskWiden {
		return text
	}
	if r.Pairing.Device.Role == protocol.RoleClient {
		text += " It may " + RightsText(r.Pairing.Device.Scopes) + "."
	}
	if r.Pairing.Device.ExpiresAt > 0 {
		text += " Access ends " + wording.When(r.Pairing.Device.ExpiresAt, now) + "."
	}
	return text
}

// RequestSource says which device asks: its system, address and the name of its computer.
func RequestSource(r protocol.Question) string {
	host := ""
	if h := r.Pairing.Device.Hostname; h != "" && !strings.EqualFold(h, r.Pairing.Device.Name) {
		host = "computer name " + h
	}
	return wording.Join(" · ", systemName(r.Pairing.Device.OS), r.Pairing.Device.Address, host)
}
