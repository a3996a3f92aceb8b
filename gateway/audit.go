package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// The secret that stores the audit log's head, and how often it is stored. An attacker who can
// write the database can write a new chain into it, but not into the keychain.
const (
	auditHead     = "audit-head"
	auditHeadKept = 5 * time.Minute
)

// auditLog is the audit log, with its head stored among the secrets.
type auditLog struct {
	*store.Audit
	secrets keychain.Store
}

// Verify implements rpc.Audit.
func (a auditLog) Verify(ctx context.Context) (protocol.AuditVerifyResult, error) {
	known, err := a.known()
	if err != nil {
		return protocol.AuditVerifyResult{}, err
	}
	return a.Audit.Verify(ctx, known)
}

func (a auditLog) known() (store.AuditHead, error) {
	var head store.AuditHead
	text, err := a.secrets.Get(auditHead)
	if errors.Is(err, keychain.ErrNotFound) {
		return head, nil
	}
	if err != nil {
		return head, fmt.Errorf("read the audit log's head: %w", err)
	}
	if _, err := fmt.Sscanf(text.Reveal(), "%d %s", &head.Seq, &head.Hash); err != nil {
		return head, fmt.Errorf("read the audit log's head: %w", err)
	}
	return head, nil
}

// keep stores the head if it is newer than known and the log still contains known: so a replacement
// by an older log remains detectable.
func (a auditLog) keep(ctx context.Context) error {
	known, err := a.known()
	if err != nil {
		return err
	}
	head, err := a.Audit.Head(ctx)
	if err != nil || head.Seq <= known.Seq {
		return err
	}
	if holds, err := a.Audit.Contains(ctx, known); err != nil || !holds {
		return err
	}
	return a.secrets.Set(auditHead, keychain.Secret(fmt.Sprintf("%d %s", head.Seq, head.Hash)))
}

// keepHead stores the head periodically, and once more when ctx has ended.
func (g *Gateway) keepHead(ctx context.Context) {
	log := auditLog{g.store.Audit, g.secrets}
	tick := time.NewTicker(auditHeadKept)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			ended = true
		}
		if err := log.keep(context.WithoutCancel(ctx)); err != nil {
			g.log.Warn("The audit log's head could not be kept", "err", err)
		}
	}
}
