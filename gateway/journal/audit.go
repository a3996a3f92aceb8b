package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// The secret that holds the audit log's head, and how often it is saved. An attacker who can write
// the database can write a new chain into it, but not into the keychain.
const (
	headSecret   = "audit-head"
	headInterval = 5 * time.Minute
)

// Audit is the audit log, with its head saved among the secrets.
type Audit struct {
	*store.Audit
	Secrets keychain.Store
}

// Verify checks that nothing in the audit log was changed or removed.
func (a Audit) Verify(ctx context.Context) (protocol.AuditVerifyResult, error) {
	head, err := a.savedHead()
	if err != nil {
		return protocol.AuditVerifyResult{}, err
	}
	return a.Audit.Verify(ctx, head)
}

// savedHead returns the saved head; the zero value if none was saved.
func (a Audit) savedHead() (store.AuditHead, error) {
	var head store.AuditHead
	text, err := a.Secrets.Get(headSecret)
	if errors.Is(err, keychain.ErrNotFound) {
		return head, nil
	}
	if err == nil {
		_, err = fmt.Sscanf(text.Reveal(), "%d %s", &head.Seq, &head.Hash)
	}
	if err != nil {
		return head, fmt.Errorf("read the audit log's head: %w", err)
	}
	return head, nil
}

// saveHead saves the head if it is newer than the saved one and the log still contains that one: so
// a replacement by an older log remains detectable.
func (a Audit) saveHead(ctx context.Context) error {
	saved, err := a.savedHead()
	if err != nil {
		return err
	}
	head, err := a.Head(ctx)
	if err != nil || head.Seq <= saved.Seq {
		return err
	}
	if contains, err := a.Contains(ctx, saved); err != nil || !contains {
		return err
	}
	return a.Secrets.Set(headSecret, keychain.Secret(fmt.Sprintf("%d %s", head.Seq, head.Hash)))
}

// SaveHead saves the head periodically, and once more when ctx has ended.
func (a Audit) SaveHead(ctx context.Context) {
	tick := time.NewTicker(headInterval)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			ended = true
		}
		if err := a.saveHead(context.WithoutCancel(ctx)); err != nil {
			slog.Warn("Cannot save the head of the audit log", "err", err)
		}
	}
}
