package session

import (
	"cmp"
	"context"
	"log/slog"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// titles lets models name chats.
type titles struct {
	chats    *Chats
	sessions *store.Sessions
	tasks    modelTasks
	workers  *crash.Workers
	pause    *pause
}

// add lets a run's model name the chat, in the background, if the chat has no name and only the
// person takes part in it. If the model cannot be asked, the next run tries again.
func (t *titles) add(r *run, msgs []protocol.Message) {
	key, ctx := r.row.Session, t.workers.Context()
	answer := finalAnswer(msgs)
	if cfg := t.chats.settings.config().Session; !cfg.AutoTitle || !isPrivate(cfg, key) || answer == "" || ctx.Err() != nil {
		return
	}
	isPerson := !isEvent(r.row) && !isDirect(r.row) && !askedBy(r.row.Principal, "", protocol.ModelRef{}).IsUnattended()
	if r.model == nil || r.model.ref.Provider == builtIn || !isPerson {
		return
	}
	question := message(r.row).Content.Text()
	t.workers.Go(func() {
		s, err := t.sessions.Get(ctx, key)
		if err != nil || s.Label != "" || s.AutoTitle != "" {
			return
		}
		title, used, err := t.tasks.title(ctx, *r.model, question, answer)
		if err != nil {
			if ctx.Err() == nil {
				slog.Warn("Asking the model for a title failed", "session", key, "err", err)
			}
			return
		}
		if _, err := t.sessions.Update(context.WithoutCancel(ctx), key, func(now *store.Session) {
			now.Usage.Add(used) // its tokens count like those of an answer
			if now.ID == s.ID { // the chat was not reset meanwhile
				now.AutoTitle = cmp.Or(title, now.FirstText)
			}
		}); err != nil {
			slog.Warn("Storing a title failed", "session", key, "err", t.pause.onStoreError(err))
			return
		}
		t.chats.publishSession(key)
	})
}
