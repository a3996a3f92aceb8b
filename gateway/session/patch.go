package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
	if err := m.checkSettings(in.Settings); err != nil {
		return protocol.OK{}, err
	}
	if _, err := m.store.Sessions.Ensure(ctx, key, m.now()); err != nil {
		return protocol.OK{}, err
	}
	var bad error
	_, err := m.store.Sessions.Update(ctx, key, func(s *store.Session) {
		if p := in.ResetPolicy; p != nil && p.Mode != nil && *p.Mode == "" {
			s.ResetPolicy = protocol.ResetPolicy{}
		} else if p != nil { // without a policy of its own, the chat follows the gateway's default
			policy := patchedPolicy(m.policy(*s), *p)
			if bad = config.CheckResetPolicy("resetPolicy", policy); bad != nil {
				return
			}
			s.ResetPolicy = policy
		}
		if in.Label != nil {
			s.Label = strings.TrimSpace(*in.Label)
		}
		if in.Settings != nil {
			present, _ := m.modelOf(*s, nil)
			patchPrefs(&s.Prefs, *in.Settings)
			if ref := s.Prefs.Model; ref != nil && ref.Provider == "" {
				// An ID alone names a model of the current provider, as with /model.
				ref.Provider = present.Provider
			}
		}
		s.UpdatedAt = m.now()
	})
	if err = errors.Join(bad, err); err != nil {
		return protocol.OK{}, err
	}
	if in.Settings != nil && in.Settings.Approvals != nil {
		line := protocol.AuditEntry{At: m.now(), Kind: protocol.AuditMode, By: cmp.Or(in.By, "person"), SessionKey: key, What: in.Settings.Approvals.Mode}
		if until := in.Settings.Approvals.Until; until > 0 {
			line.What += " until " + time.UnixMilli(until).Format(time.RFC3339)
		}
		if err := m.store.Audit.Append(ctx, line); err != nil {
			return protocol.OK{}, err
		}
	}
	m.publishSession(key)
	return protocol.OK{OK: true}, nil
}

// checkSettings validates settings for a chat; nil changes nothing.
func (m *Manager) checkSettings(in *protocol.SessionPrefsPatch) error {
	if in == nil {
		return nil
	}
	if l := in.ThinkingLevel; l != nil && *l != "" && !slices.Contains(protocol.ThinkingLevels, *l) {
		return protocol.ErrBadRequest.With(fmt.Sprintf("settings.thinkingLevel must be one of %s, not %q", strings.Join(protocol.ThinkingLevels, ", "), *l))
	}
	if n := in.MaxTokens; n != nil && *n < 0 {
		return protocol.ErrBadRequest.With("settings.maxTokens must not be negative")
	}
	if p := in.SystemPrompt; p != nil && len(*p) > maxPrompt {
		return protocol.ErrTooLarge.With(fmt.Sprintf("settings.systemPrompt has %d bytes, at most %d are possible; put it into a file such as AGENTS.md", len(*p), maxPrompt))
	}
	if ref := in.Model; ref != nil && (long(ref.Provider) || long(ref.ID)) {
		return protocol.ErrBadRequest.With(fmt.Sprintf("settings.model: provider and id may have %d bytes each", maxModel))
	}
	return m.checkMode(in.Approvals)
}

func patchedPolicy(policy protocol.ResetPolicy, in protocol.ResetPolicyPatch) protocol.ResetPolicy {
	if in.Mode != nil {
		policy.Mode = *in.Mode
	}
	if in.AtHour != nil {
		policy.AtHour = in.AtHour
	}
	if in.IdleMinutes != nil {
		policy.IdleMinutes = in.IdleMinutes
	}
	return policy
}

func long(name *string) bool { return name != nil && len(*name) > maxModel }

// maxTrust is the longest time for which a chat can be trusted at once.
const maxTrust = 12 * time.Hour

func (m *Manager) checkMode(mode *protocol.ApprovalMode) error {
	if mode == nil {
		return nil
	}
	switch mode.Mode {
	case "", protocol.ModeAsk, protocol.ModeAcceptEdits, protocol.ModeReadOnly, protocol.ModePaused:
		mode.Until = 0
		return nil
	case protocol.ModeTrust:
		if left := mode.Until - m.now(); left <= 0 || left > maxTrust.Milliseconds() {
			return protocol.ErrBadRequest.With(fmt.Sprintf("trust needs an end within %d hours: settings.approvals.until, in milliseconds", int(maxTrust.Hours())))
		}
		return nil
	}
	return protocol.ErrBadRequest.With(fmt.Sprintf("settings.approvals.mode must be ask, accept-edits, read-only, trust or paused, not %q", mode.Mode))
}

func patchPrefs(p *protocol.SessionPrefs, in protocol.SessionPrefsPatch) {
	if in.Model != nil {
		ref := protocol.ModelRef{}
		if p.Model != nil {
			ref = *p.Model
		}
		if in.Model.Provider != nil {
			ref.Provider = strings.ToLower(*in.Model.Provider)
		}
		if in.Model.ID != nil {
			ref.ID = *in.Model.ID
		}
		p.Model = &ref
		if ref == (protocol.ModelRef{}) {
			p.Model = nil
		}
	}
	if in.ThinkingLevel != nil {
		p.ThinkingLevel = *in.ThinkingLevel
	}
	if in.SystemPrompt != nil {
		p.SystemPrompt = *in.SystemPrompt
	}
	if in.MaxTokens != nil {
		p.MaxTokens = *in.MaxTokens
	}
	if in.Approvals != nil {
		p.Approvals = in.Approvals
		if in.Approvals.Mode == "" || in.Approvals.Mode == protocol.ModeAsk {
			p.Approvals = nil
		}
	}
}
