package channel

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// Display records where a question is shown. *question.Display implements it.
type Display interface {
	Shown(ctx context.Context, p protocol.QuestionShownParams) error
}

// reminder notifies the person on the channel in the settings (approvals.tell) of questions about
// calls that no window shows.
type reminder struct {
	messenger   *Messenger
	bus         *event.Bus
	config      func() config.Config
	display     Display
	machineName func(protocol.NodeID) string
}

// run follows the questions until ctx ends.
func (r *reminder) run(ctx context.Context) {
	sub := r.bus.SubscribeOnly(func(c protocol.Change) bool {
		return c.Kind == protocol.ChangeQuestion && c.Question.IsOfCall() && c.Question.State == protocol.QuestionPending &&
			c.Question.Unseen == protocol.MaxUnseen && !c.Question.Shown
	})
	defer sub.Close()
	for c := range sub.All(ctx) {
		err := crash.Call("reminder", func() error { return r.remind(ctx, *c.Question) }, "question", c.Question.ID)
		if err != nil && ctx.Err() == nil {
			slog.Warn("Sending an unseen question to a channel failed", "question", c.Question.ID, "err", err)
		}
	}
}

// remind sends a message that does not contain the call, because the network belongs to others. No
// reply from there answers a question.
func (r *reminder) remind(ctx context.Context, q protocol.Question) error {
	to := r.config().Approvals.Tell
	if to.Channel == "" || to.To == "" {
		return nil
	}
	what := "wants to continue"
	if q.IsCall() {
		what = fmt.Sprintf("wants to use %s on %s", q.Tool, cmp.Or(r.machineName(q.Node), string(q.Node)))
	}
	text := fmt.Sprintf("Fairlead needs your approval: the agent %s, and no window shows the question. Answer in a Fairlead window, or with fairlead approvals.", what)
	if _, err := r.messenger.SendMessage(ctx, q.SessionKey, Outgoing{Text: text, Channel: to.Channel, AccountID: to.Account, To: to.To}); err != nil {
		return err
	}
	return r.display.Shown(ctx, protocol.QuestionShownParams{ID: q.ID, Surface: protocol.SurfaceChannel})
}
