package crontest

import (
	"context"
	"time"

	"fairlead/gateway/protocol"
)

// Create implements cron.Sessions.
func (a *Agent) Create(ctx context.Context, in protocol.SessionCreateParams) (protocol.SessionEntry, error) {
	_, err := a.Store.Sessions.Ensure(ctx, in.SessionKey, time.Now().UnixMilli())
	a.mu.Lock()
	defer a.mu.Unlock()
	a.labels[in.SessionKey] = in.Label
	return protocol.SessionEntry{SessionKey: in.SessionKey, Label: in.Label}, err
}

// Patch implements cron.Sessions.
func (a *Agent) Patch(_ context.Context, in protocol.SessionPatchParams) (protocol.OK, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if in.Settings != nil {
		a.prefs[in.SessionKey] = *in.Settings
	}
	return protocol.OK{OK: true}, nil
}

// Delete implements cron.Sessions.
func (a *Agent) Delete(_ context.Context, in protocol.SessionParams) (protocol.SessionDeleteResult, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.deleted = append(a.deleted, in.SessionKey)
	return protocol.SessionDeleteResult{OK: true}, nil
}

// Stats implements cron.Sessions.
func (a *Agent) Stats(_ context.Context, in protocol.SessionParams) (protocol.SessionStats, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return protocol.SessionStats{SessionKey: in.SessionKey, IsProcessing: a.busy}, nil
}
