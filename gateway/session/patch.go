package session

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Patch changes a chat's settings, label and reset policy; fields that are not set stay unchanged.
// The error for an invalid value lists the valid ones.
func (m *Manager) Patch(ctx context.Context, in protocol.SessionPatchParams) (protocol.OK, error) {
	key := m.Canonical(in.SessionKey)
	if err := checkSettings(in.Settings); err != nil {
		return protocol.OK{}, err
	}
	if _, err := m.store.Sessions.Ensure(ctx, key, now()); err != nil {
		return protocol.OK{}, err
	}
	var invalid error
	_, err := m.store.Sessions.Update(ctx, key, func(s *store.Session) { invalid = m.settings.patch(s, in) })
	if err = errors.Join(invalid, err); err != nil {
		return protocol.OK{}, err
	}
	if in.Settings != nil && in.Settings.Approvals != nil {
		mode := in.Settings.Approvals
		line := protocol.AuditEntry{At: now(), Kind: protocol.AuditMode, By: cmp.Or(in.By, "person"), SessionKey: key, What: mode.Mode}
		if mode.Until > 0 {
			line.What += " until " + time.UnixMilli(mode.Until).Format(time.RFC3339)
		}
		if err := m.store.Audit.Append(ctx, line); err != nil {
			return protocol.OK{}, err
		}
	}
	m.publishSession(key)
	return protocol.OK{OK: true}, nil
}

// patch changes a session. It changes nothing if the new reset policy is invalid.
func (c settings) patch(s *store.Session, in protocol.SessionPatchParams) error {
	if p := in.ResetPolicy; p != nil && p.Mode != nil && *p.Mode == "" {
		s.ResetPolicy = protocol.ResetPolicy{}
	} else if p != nil { // without a policy of its own, the chat follows the gateway's default
		policy := patchedPolicy(c.resetPolicy(*s), *p)
		if err := config.CheckResetPolicy("resetPolicy", policy); err != nil {
			return err
		}
		s.ResetPolicy = policy
	}
	if in.Label != nil {
		s.Label = strings.TrimSpace(*in.Label)
	}
	if in.Settings != nil {
		current, _ := c.model(*s, nil)
		patchPrefs(&s.Prefs, *in.Settings)
		if ref := s.Prefs.Model; ref != nil && ref.Provider == "" {
			// An ID alone names a model of the current provider, as with /model.
			ref.Provider = current.Provider
		}
	}
	s.UpdatedAt = now()
	return nil
}

func patchedPolicy(policy protocol.ResetPolicy, in protocol.ResetPolicyPatch) protocol.ResetPolicy {
	set(&policy.Mode, in.Mode)
	policy.AtHour, policy.IdleMinutes = cmp.Or(in.AtHour, policy.AtHour), cmp.Or(in.IdleMinutes, policy.IdleMinutes)
	return policy
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func patchPrefs(p *protocol.SessionPrefs, in protocol.SessionPrefsPatch) {
	if in.Model != nil {
		var ref protocol.ModelRef
		set(&ref, p.Model)
		set(&ref.Provider, in.Model.Provider)
		set(&ref.ID, in.Model.ID)
		ref.Provider = strings.ToLower(ref.Provider)
		if p.Model = &ref; ref == (protocol.ModelRef{}) {
			p.Model = nil
		}
	}
	set(&p.ThinkingLevel, in.ThinkingLevel)
	set(&p.SystemPrompt, in.SystemPrompt)
	set(&p.MaxTokens, in.MaxTokens)
	if in.Approvals != nil {
		p.Approvals = in.Approvals
		if in.Approvals.Mode == "" || in.Approvals.Mode == protocol.ModeAsk {
			p.Approvals = nil
		}
	}
}
