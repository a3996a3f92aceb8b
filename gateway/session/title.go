package session

import (
	"cmp"
	"context"
	"log/slog"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// makeTitle lets a run's model name the chat, in the background, if the chat has no name and only
// the person takes part in it. If the model cannot be asked, the next run tries again.
func (h *history) makeTitle(r *run, msgs []protocol.Message) {
	m, key := r.m, r.row.Session
	answer := finalAnswer(msgs)
	if cfg := m.settings.config().Session; !cfg.AutoTitle || !isPrivate(cfg, key) || answer == "" || m.ctx.Err() != nil {
		return
	}
	isPerson := !isEvent(r.row) && !isDirect(r.row) && !askedBy(r.row.Principal, "", protocol.ModelRef{}).IsUnattended()
	ref := r.snapshot().Model
	if r.model == nil || ref.Provider == builtIn || !isPerson {
		return
	}
	question := message(r.row).Content.Text()
	m.wg.Go(func() {
		s, err := m.store.Sessions.Get(m.ctx, key)
		if err != nil || s.Label != "" || s.AutoTitle != "" {
			return
		}
		title, used, err := h.tasks.title(m.ctx, openModel{r.model, ref, r.modelInfo}, question, answer)
		if err != nil {
			if m.ctx.Err() == nil {
				slog.Warn("Asking the model for a title failed", "session", key, "err", err)
			}
			return
		}
		if _, err := m.store.Sessions.Update(context.WithoutCancel(m.ctx), key, func(now *store.Session) {
			now.Usage.Add(used) // its tokens count like those of an answer
			if now.ID == s.ID { // the chat was not reset meanwhile
				now.AutoTitle = cmp.Or(title, now.FirstText)
			}
		}); err != nil {
			slog.Warn("Storing a title failed", "session", key, "err", m.pause.onStoreError(err))
			return
		}
		m.publishSession(key)
	})
}
