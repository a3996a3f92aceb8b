package session

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// commandForm matches a command: /name with optional arguments after a space, or one of the
// commands that accept a word after a colon.
var commandForm = regexp.MustCompile(`(?i)^/(?:(\w+)(?:[ \t]+(.*))?|(compact|mode|model|m|think|thinking|t):(\S*))$`)

// levels maps the spellings of thinking levels, which are those of the original system.
var levels = map[string]string{
	"off": "none", "none": "none", "0": "none", "minimal": "minimal", "min": "minimal", "1": "minimal", "low": "low", "2": "low",
	"medium": "medium", "med": "medium", "3": "medium", "high": "high", "4": "high", "xhigh": "xhigh", "max": "xhigh", "5": "xhigh",
}

const helpText = `Commands:
/new or /reset  begin this chat afresh; the old messages go to the archive
/compact [N] [FOCUS]  put a summary in place of all but the last N messages (20); /compact undo takes it back
/stop           stop what runs
/status         show model, tokens and queue
/model [PROVIDER/ID]  show or set this chat's model
/think [none|minimal|low|medium|high|xhigh]  show or set how much the model thinks
/mode [ask|accept-edits|read-only|trust MINUTES|paused]  show or set what this chat asks about
/help           show this
A message may begin with ! to run your own command, and hold /think:LEVEL, /model:PROVIDER/ID or /model:ID for that message alone.`

// Command handles a slash command of p, or a message that consists only of settings. ok is false
// when the message is for the agent, as unknown commands are. Only the person can use commands:
// text that an agent, a schedule or a person on a channel writes into a chat is never a command.
func (m *Manager) Command(ctx context.Context, p auth.Principal, key protocol.SessionKey, text string, withFiles bool) (res protocol.ChatSendResult, ok bool) {
	if p.Kind != auth.KindOwner {
		return res, false
	}
	if rest, d := directives(text); d != nil && rest == "" {
		if withFiles { // the files are the message
			return res, false
		}
		return protocol.ChatSendResult{
			Status: protocol.ChatDirectiveOnly, Directives: m.told(ctx, m.Canonical(key), d),
			Response: "Nothing was sent: the settings in a message hold for that message. /model and /think set them for the chat.",
		}, true
	}
	return m.command(ctx, p, m.Canonical(key), text)
}

func (m *Manager) command(ctx context.Context, p auth.Principal, key protocol.SessionKey, text string) (res protocol.ChatSendResult, ok bool) {
	match := commandForm.FindStringSubmatch(strings.TrimSpace(text))
	if match == nil {
		return res, false
	}
	arg := strings.TrimSpace(match[2] + match[4])
	var name string
	var run func() (string, error)
	switch strings.ToLower(match[1] + match[3]) {
	case "new", "reset":
		name, run = "reset", func() (string, error) {
			r, err := m.Reset(ctx, protocol.SessionParams{SessionKey: key})
			return fmt.Sprintf("The chat was reset. %s archived.", messages(r.ArchivedMessages)), err
		}
	case "compact":
		name, run = "compact", func() (string, error) {
			return m.compactCommand(ctx, key, arg)
		}
	case "stop":
		name, run = "stop", func() (string, error) {
			r, err := m.Cancel(ctx, protocol.ChatCancelParams{SessionKey: key})
			if !r.Cancelled {
				return "No run in progress.", err
			}
			return fmt.Sprintf("Stopped run %s.", r.RunID), err
		}
	case "status":
		name, run = "status", func() (string, error) { return m.statusText(ctx, key) }
	case "model", "m":
		name, run = "model", func() (string, error) { return m.modelCommand(ctx, key, arg) }
	case "think", "thinking", "t":
		name, run = "think", func() (string, error) { return m.thinkCommand(ctx, key, arg) }
	case "mode":
		name, run = "mode", func() (string, error) { return m.modeCommand(ctx, p, key, arg) }
	case "help":
		name, run = "help", func() (string, error) { return helpText, nil }
	default:
		return res, false
	}
	res = protocol.ChatSendResult{Status: protocol.ChatCommand, Command: name}
	text, err := run()
	res.Response = text
	if err != nil {
		res.Response, res.Error = "", "Command failed: "+err.Error()
	}
	return res, true
}

func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}

func (m *Manager) statusText(ctx context.Context, key protocol.SessionKey) (string, error) {
	st, err := m.Stats(ctx, protocol.SessionParams{SessionKey: key})
	if err != nil {
		return "", err
	}
	s, err := m.store.Sessions.Peek(ctx, key, m.now())
	if err != nil {
		return "", err
	}
	ref, _ := m.modelOf(s, nil)
	state := "idle"
	if st.IsProcessing {
		state = "working"
	}
	return fmt.Sprintf("Session: %s\nModel: %s\nState: %s, %s waiting\nMessages: %d\nTokens: %d in, %d out", key, ref, state, messages(st.QueueSize),
		st.MessageCount, st.Tokens.Input, st.Tokens.Output), nil
}

func (m *Manager) compactCommand(ctx context.Context, key protocol.SessionKey, arg string) (string, error) {
	if strings.EqualFold(arg, "undo") {
		r, err := m.Uncompact(ctx, protocol.SessionParams{SessionKey: key})
		if r.Messages == 0 {
			return "The chat is whole already.", err
		}
		return fmt.Sprintf("The agent reads %s again.", messages(r.Messages)), err
	}
	in := protocol.SessionCompactParams{SessionKey: key, Focus: arg}
	number, rest, _ := strings.Cut(arg, " ")
	if n, err := strconv.Atoi(number); err == nil {
		in.KeepMessages, in.Focus = &n, strings.TrimSpace(rest)
	}
	r, err := m.Compact(ctx, in)
	if r.TrimmedMessages == 0 {
		return "Nothing to shorten.", err
	}
	return fmt.Sprintf("A summary stands for %s now, and %s stay. /compact undo takes it back.", messages(r.TrimmedMessages), messages(r.KeptMessages)), err
}

func (m *Manager) modelCommand(ctx context.Context, key protocol.SessionKey, arg string) (string, error) {
	s, err := m.store.Sessions.Peek(ctx, key, m.now())
	if err != nil {
		return "", err
	}
	if arg == "" {
		ref, _ := m.modelOf(s, nil)
		return "Model: " + ref.String(), nil
	}
	ref, err := m.parseModel(s, arg)
	if err != nil {
		return "", err
	}
	_, err = m.Patch(ctx, protocol.SessionPatchParams{SessionKey: key, Settings: &protocol.SessionPrefsPatch{Model: &protocol.ModelPatch{Provider: &ref.Provider, ID: &ref.ID}}})
	return "Model: " + ref.String(), err
}

func (m *Manager) thinkCommand(ctx context.Context, key protocol.SessionKey, arg string) (string, error) {
	if arg == "" {
		s, err := m.store.Sessions.Peek(ctx, key, m.now())
		level := s.Prefs.ThinkingLevel
		if level == "" {
			level = "left to the model"
		}
		return "Thinking: " + level, err
	}
	level, ok := levels[strings.ToLower(arg)]
	if !ok {
		return "", fmt.Errorf("thinking is one of %s, not %q", strings.Join(protocol.ThinkingLevels, ", "), arg)
	}
	_, err := m.Patch(ctx, protocol.SessionPatchParams{SessionKey: key, Settings: &protocol.SessionPrefsPatch{ThinkingLevel: &level}})
	return "Thinking: " + level, err
}

func (m *Manager) modeCommand(ctx context.Context, p auth.Principal, key protocol.SessionKey, arg string) (string, error) {
	if arg != "" && !p.Has(protocol.ScopeApprove) {
		return "", errors.New("what the chat asks about cannot be set from here; use a window or a device that may answer questions")
	}
	if arg != "" {
		word, minutes, _ := strings.Cut(strings.ToLower(arg), " ")
		mode := protocol.ApprovalMode{Mode: word}
		if word == protocol.ModeTrust {
			n, err := strconv.Atoi(strings.TrimSpace(minutes))
			if err != nil || n < 1 {
				return "", errors.New("say for how many minutes, such as /mode trust 30")
			}
			mode.Until = m.now() + int64(n)*time.Minute.Milliseconds()
		}
		if _, err := m.Patch(ctx, protocol.SessionPatchParams{SessionKey: key, By: p.String(), Settings: &protocol.SessionPrefsPatch{Approvals: &mode}}); err != nil {
			return "", err
		}
	}
	s, err := m.store.Sessions.Peek(ctx, key, m.now())
	if err != nil {
		return "", err
	}
	mode := protocol.ApprovalMode{Mode: protocol.ModeAsk}
	if p := s.Prefs.Approvals; p != nil && (p.Mode != protocol.ModeTrust || p.Until > m.now()) {
		mode = *p
	}
	text := "Mode: " + mode.Mode
	if mode.Until > 0 {
		text += " until " + time.UnixMilli(mode.Until).In(m.zone()).Format("15:04")
	}
	return text, nil
}
