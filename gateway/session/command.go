package session

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

var (
	commandForm   = regexp.MustCompile(`^/(\w+)(?:[ \t]+(.*))?$`)
	directiveForm = regexp.MustCompile(`(?i)(^|\s)/(think|thinking|t|model|m):(\S+)`)
)

// levels are the spellings of thinking levels (gsv interop notes 5).
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
A message may begin with ! to run your own command, and hold /think:LEVEL or /model:PROVIDER/ID for that message alone.`

// command handles a slash command; ok is false when text is none. Unknown ones are ordinary messages.
func (m *Manager) command(ctx context.Context, key protocol.SessionKey, text string) (res protocol.ChatSendResult, ok bool) {
	match := commandForm.FindStringSubmatch(strings.TrimSpace(text))
	if match == nil {
		return res, false
	}
	arg := strings.TrimSpace(match[2])
	var name string
	var run func() (string, error)
	switch strings.ToLower(match[1]) {
	case "new", "reset":
		name, run = "reset", func() (string, error) {
			r, err := m.Reset(ctx, protocol.SessionParams{SessionKey: key})
			return fmt.Sprintf("A new chat begins. %s archived.", count(r.ArchivedMessages, "message")), err
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
	case "model":
		name, run = "model", func() (string, error) { return m.modelCommand(ctx, key, arg) }
	case "think", "thinking", "t":
		name, run = "think", func() (string, error) { return m.thinkCommand(ctx, key, arg) }
	case "mode":
		name, run = "mode", func() (string, error) { return m.modeCommand(ctx, key, arg) }
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

func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func (m *Manager) statusText(ctx context.Context, key protocol.SessionKey) (string, error) {
	st, err := m.Stats(ctx, protocol.SessionParams{SessionKey: key})
	if err != nil {
		return "", err
	}
	s, err := m.store.EnsureSession(ctx, key, m.now())
	if err != nil {
		return "", err
	}
	ref, _ := m.modelOf(s, nil)
	state := "idle"
	if st.IsProcessing {
		state = "working"
	}
	return fmt.Sprintf("Session: %s\nModel: %s\nState: %s, %s waiting\nMessages: %d\nTokens: %d in, %d out", key, ref, state, count(st.QueueSize, "message"),
		st.MessageCount, st.Tokens.Input, st.Tokens.Output), nil
}

func (m *Manager) compactCommand(ctx context.Context, key protocol.SessionKey, arg string) (string, error) {
	if strings.EqualFold(arg, "undo") {
		r, err := m.Uncompact(ctx, protocol.SessionParams{SessionKey: key})
		if r.Messages == 0 {
			return "The chat is whole already.", err
		}
		return fmt.Sprintf("The agent reads %s again.", count(r.Messages, "message")), err
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
	return fmt.Sprintf("A summary stands for %s now, and %s stay. /compact undo takes it back.", count(r.TrimmedMessages, "message"), count(r.KeptMessages, "message")), err
}

func (m *Manager) modelCommand(ctx context.Context, key protocol.SessionKey, arg string) (string, error) {
	s, err := m.store.EnsureSession(ctx, key, m.now())
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
		s, err := m.store.EnsureSession(ctx, key, m.now())
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

func (m *Manager) modeCommand(ctx context.Context, key protocol.SessionKey, arg string) (string, error) {
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
		if _, err := m.Patch(ctx, protocol.SessionPatchParams{SessionKey: key, Settings: &protocol.SessionPrefsPatch{Approvals: &mode}}); err != nil {
			return "", err
		}
	}
	s, err := m.store.EnsureSession(ctx, key, m.now())
	if err != nil {
		return "", err
	}
	mode := protocol.ApprovalMode{Mode: protocol.ModeAsk}
	if p := s.Prefs.Approvals; p != nil && (p.Mode != protocol.ModeTrust || p.Until > m.now()) {
		mode = *p
	}
	text := "Mode: " + mode.Mode
	if mode.Until > 0 {
		text += " until " + time.UnixMilli(mode.Until).Format("15:04")
	}
	return text, nil
}

// directives cuts the settings for one message out of its text; everything else of the text, its line breaks too, stays as it is.
func (m *Manager) directives(text string) (rest string, d *protocol.Directives) {
	rest = directiveForm.ReplaceAllStringFunc(text, func(found string) string {
		p := directiveForm.FindStringSubmatch(found)
		switch strings.ToLower(p[2]) {
		case "model", "m":
			provider, id, ok := strings.Cut(p[3], "/")
			if !ok {
				return found
			}
			if d == nil {
				d = new(protocol.Directives)
			}
			d.Model = &protocol.ModelRef{Provider: strings.ToLower(provider), ID: id}
		default:
			level, ok := levels[strings.ToLower(p[3])]
			if !ok {
				return found
			}
			if d == nil {
				d = new(protocol.Directives)
			}
			d.ThinkLevel = level
		}
		return p[1]
	})
	if d == nil {
		return text, nil
	}
	return strings.TrimSpace(rest), d
}

var (
	yesWords = []string{"yes", "y", "approve", "approved", "ok", "okay"}
	noWords  = []string{"no", "n", "deny", "denied", "reject", "rejected"}
)

// decision reads a message as the answer to a question: one word of yes, or a word of no with an optional reason. ok is false for
// anything else.
func decision(text string) (allow bool, reason string, ok bool) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	word = strings.ToLower(strings.TrimRight(word, ".,!:"))
	rest = strings.TrimSpace(rest)
	if slices.Contains(yesWords, word) && (rest == "" || strings.EqualFold(rest, "please")) {
		return true, "", true
	}
	if slices.Contains(noWords, word) && !strings.Contains(rest, "\n") {
		return false, rest, true
	}
	return false, "", false
}
