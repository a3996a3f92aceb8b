package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Limits of a chat's settings, which every window receives with the list of chats.
const (
	maxModel  = 200     // bytes of the name of a provider or model
	maxPrompt = 100_000 // bytes of a system prompt, the same as for all files of a prompt together
	maxTrust  = 12 * time.Hour
)

// builtIn is the provider that works without a model. It cannot summarize.
const builtIn = "operator"

// settings answers what holds for a chat: its own settings, then its agent's, then the gateway's.
type settings struct{ config func() config.Config }

// agent returns the configuration of a chat's agent.
func (c settings) agent(key protocol.SessionKey) config.AgentEntry {
	for _, a := range c.config().Agents.List {
		if config.AgentName(a.ID) == key.Agent() {
			return a
		}
	}
	return config.AgentEntry{}
}

// model returns the model and thinking level for the next message. The message's own settings, d,
// take precedence.
func (c settings) model(s store.Session, d *protocol.Directives) (protocol.ModelRef, string) {
	cfg := c.config().Model
	if own := c.agent(s.Key).Model; own != nil && own.Provider != "" {
		cfg = *own
	}
	ref := protocol.ModelRef{Provider: cfg.Provider, ID: cfg.ID}
	// Provider and ID may be set one after the other.
	if own := s.Prefs.Model; own != nil && own.Provider != "" && own.ID != "" {
		ref = *own
	}
	thinking := cmp.Or(s.Prefs.ThinkingLevel, cfg.ThinkingLevel)
	if d == nil {
		return ref, thinking
	}
	if d.Model != nil {
		ref = protocol.ModelRef{Provider: cmp.Or(d.Model.Provider, ref.Provider), ID: d.Model.ID}
	}
	return ref, cmp.Or(d.ThinkLevel, thinking)
}

// parseModel parses "provider/id", or an ID of the current provider's.
func parseModel(text string) (ref protocol.ModelRef, ok bool) {
	provider, id, both := strings.Cut(text, "/")
	if !both {
		provider, id = "", text
	}
	ref = protocol.ModelRef{Provider: strings.ToLower(provider), ID: id}
	return ref, id != "" && (provider != "" || !both) && len(text) <= maxModel && !strings.ContainsAny(text, " \t\n")
}

// resetPolicy returns the chat's own reset policy, or the gateway's.
func (c settings) resetPolicy(s store.Session) protocol.ResetPolicy {
	p := s.ResetPolicy
	if p.Mode == "" {
		p = c.config().Session.DefaultResetPolicy
	}
	p.Mode = cmp.Or(p.Mode, "manual")
	return p
}

// zone returns the person's time zone.
func (c settings) zone() *time.Location { return c.config().Zone() }

// heartbeat returns the heartbeat prompt of a chat's agent.
func (c settings) heartbeat(key protocol.SessionKey) string {
	if own := c.agent(key).Heartbeat; own != nil && own.Prompt != "" {
		return own.Prompt
	}
	return c.config().Agents.DefaultHeartbeat.Prompt
}

// checkSettings validates settings for a chat; nil changes nothing.
func checkSettings(in *protocol.SessionPrefsPatch, nodes func() []protocol.NodeInfo) error {
	if in == nil {
		return nil
	}
	tooLong := func(name *string) bool { return name != nil && len(*name) > maxModel }
	if l := in.ThinkingLevel; l != nil && *l != "" && !slices.Contains(protocol.ThinkingLevels, *l) {
		return protocol.ErrBadRequest.With(fmt.Sprintf("settings.thinkingLevel must be one of %s, not %q", strings.Join(protocol.ThinkingLevels, ", "), *l))
	}
	if n := in.MaxTokens; n != nil && *n < 0 {
		return protocol.ErrBadRequest.With("settings.maxTokens must not be negative")
	}
	if p := in.SystemPrompt; p != nil && len(*p) > maxPrompt {
		return protocol.ErrTooLarge.With(fmt.Sprintf("settings.systemPrompt has %d bytes, more than %d; put it into a file such as AGENTS.md", len(*p), maxPrompt))
	}
	if ref := in.Model; ref != nil && (tooLong(ref.Provider) || tooLong(ref.ID)) {
		return protocol.ErrBadRequest.With(fmt.Sprintf("settings.model: provider and id may have at most %d bytes each", maxModel))
	}
	return checkMode(in.Approvals, nodes)
}

// checkMode validates an approval mode. Trust needs a machine that protects start-up files.
func checkMode(mode *protocol.ApprovalMode, nodes func() []protocol.NodeInfo) error {
	if mode == nil {
		return nil
	}
	switch mode.Mode {
	case "", protocol.ModeAsk, protocol.ModeAcceptEdits, protocol.ModeReadOnly, protocol.ModePaused:
		mode.Until = 0
		return nil
	case protocol.ModeTrust:
		if left := mode.Until - now(); left <= 0 || left > maxTrust.Milliseconds() {
			return protocol.ErrBadRequest.With(fmt.Sprintf("trust must end within %d hours: set settings.approvals.until, in milliseconds", int(maxTrust.Hours())))
		}
		return protocol.CheckProtected("trust", nodes())
	}
	return protocol.ErrBadRequest.With(fmt.Sprintf("settings.approvals.mode must be ask, accept-edits, read-only, trust or paused, not %q", mode.Mode))
}

// modelTimeout is the time limit for one answer of a model.
func (c settings) modelTimeout() time.Duration {
	return time.Duration(c.config().Timeouts.LLM) * time.Millisecond
}

// patch changes a session. It changes nothing if the new reset policy is invalid.
func (c settings) patch(s *store.Session, in protocol.SessionPatchParams) error {
	if p := in.ResetPolicy; p != nil && p.Mode != nil && *p.Mode == "" {
		s.ResetPolicy = protocol.ResetPolicy{}
	} else if p != nil { // without a policy of its own, the chat follows the gateway's default
		policy := c.resetPolicy(*s)
		set(&policy.Mode, p.Mode)
		policy.AtHour, policy.IdleMinutes = cmp.Or(p.AtHour, policy.AtHour), cmp.Or(p.IdleMinutes, policy.IdleMinutes)
		if err := config.CheckResetPolicy("resetPolicy", policy); err != nil {
			return err
		}
		s.ResetPolicy = policy
	}
	if in.Label != nil {
		s.Label = strings.TrimSpace(*in.Label)
	}
	set(&s.Pinned, in.Pinned)
	if in.Archived != nil {
		s.Archived, s.Pinned = *in.Archived, s.Pinned && !*in.Archived
	}
	if in.Tags != nil {
		s.Tags = cleanTags(*in.Tags)
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

// cleanTags returns the tags sorted, without empty and repeated ones.
func cleanTags(tags []string) []string {
	list := []string{}
	for _, t := range tags {
		if t = format.Line(t, 0); t != "" {
			list = append(list, t)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
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
		p.Model = &ref
		if ref == (protocol.ModelRef{}) {
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
