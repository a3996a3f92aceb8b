package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// commandPattern matches /name with optional arguments, or a command with a word after a colon.
var commandPattern = regexp.MustCompile(`(?i)^/(?:(\w+)(?:[ \t]+(.*))?|(compact|mode|model|m|think|thinking|t):(\S*))$`)

// thinkingLevels maps the spellings of thinking levels, which are those of GSV.
var thinkingLevels = map[string]string{
	"off": "none", "none": "none", "0": "none", "minimal": "minimal", "min": "minimal", "1": "minimal", "low": "low", "2": "low",
	"medium": "medium", "med": "medium", "3": "medium", "high": "high", "4": "high", "xhigh": "xhigh", "max": "xhigh", "5": "xhigh",
}

const helpText = `Commands:
/new, /clear or /reset  start this chat over; the old messages go to the archive
/compact [N] [FOCUS]  replace all but the last N messages (20) by a summary; /compact undo reverts it
/stop           stop the run in progress
/status         show model, tokens and queue
/model [PROVIDER/ID]  show or set this chat's model
/think [none|minimal|low|medium|high|xhigh]  show or set how much the model thinks
/mode [ask|accept-edits|read-only|trust MINUTES|paused]  show or set which calls in this chat need your approval
/help           show this
Start a message with ! to run your own command. Add /think:LEVEL, /model:PROVIDER/ID or /model:ID to a message to set these for that message only.`

// Command handles a slash command of p, or a message that consists only of settings. ok is false
// when the message is for the agent. Only the person can use commands: text of an agent, a schedule
// or a person on a channel is never a command.
func (m *Messages) Command(ctx context.Context, p auth.Principal, key protocol.SessionKey, text string, withFiles bool) (res protocol.ChatSendResult, ok bool) {
	if p.Kind != auth.KindOwner {
		return res, false
	}
	key = m.chats.Canonical(key)
	if rest, d := parseDirectives(text); d != nil && rest == "" {
		if withFiles { // the files are the message
			return res, false
		}
		return protocol.ChatSendResult{
			Status: protocol.ChatDirectiveOnly, Directives: m.chats.withProvider(ctx, key, d),
			Response: "Nothing was sent: settings in a message apply to that message only. Use /model and /think to set them for the chat.",
		}, true
	}
	match := commandPattern.FindStringSubmatch(strings.TrimSpace(text))
	if match == nil {
		return res, false
	}
	name := strings.ToLower(match[1] + match[3])
	name = cmp.Or(shortNames[name], name)
	run := commands[name]
	if run == nil {
		return res, false
	}
	res = protocol.ChatSendResult{Status: protocol.ChatCommand, Command: name}
	s, err := m.chats.peek(ctx, key)
	if err == nil {
		res.Response, err = run(command{chats: m.chats, runs: m.runs, editor: m.editor, by: p, key: key, session: s, arg: strings.TrimSpace(match[2] + match[4])}, ctx)
	}
	if err != nil {
		res.Response, res.Error = "", "Command failed: "+err.Error()
	}
	return res, true
}

// command is a slash command of the person in a chat.
type command struct {
	chats   *Chats
	runs    *Runs
	editor  *Editor
	by      auth.Principal
	key     protocol.SessionKey
	session store.Session
	arg     string
}

// commands run and return their response.
var commands = map[string]func(c command, ctx context.Context) (string, error){
	"reset": command.reset, "compact": command.compact, "stop": command.stop, "status": command.status, "model": command.model,
	"think": command.think, "mode": command.mode, "help": func(command, context.Context) (string, error) { return helpText, nil },
}

var shortNames = map[string]string{"new": "reset", "clear": "reset", "m": "model", "thinking": "think", "t": "think"}

func messages(n int) string { return format.Plural(n, "message") }

func (c command) reset(ctx context.Context) (string, error) {
	r, err := c.editor.Reset(ctx, protocol.SessionParams{SessionKey: c.key})
	return fmt.Sprintf("The chat was reset. %s archived.", messages(r.ArchivedMessages)), err
}

func (c command) stop(ctx context.Context) (string, error) {
	r, err := c.runs.Cancel(ctx, protocol.ChatCancelParams{SessionKey: c.key})
	if !r.Cancelled {
		return "No run in progress.", err
	}
	return fmt.Sprintf("Stopped run %s.", r.RunID), err
}

func (c command) status(ctx context.Context) (string, error) {
	st, err := c.runs.Stats(ctx, protocol.SessionParams{SessionKey: c.key})
	if err != nil {
		return "", err
	}
	ref, _ := c.chats.settings.model(c.session, nil)
	state := "idle"
	if st.IsProcessing {
		state = "working"
	}
	return fmt.Sprintf("Session: %s\nModel: %s\nState: %s, %s waiting\nMessages: %d\nTokens: %d in, %d out", c.key, ref, state, messages(st.QueueSize),
		st.MessageCount, st.Tokens.Input, st.Tokens.Output), nil
}

func (c command) compact(ctx context.Context) (string, error) {
	if strings.EqualFold(c.arg, "undo") {
		r, err := c.editor.Uncompact(ctx, protocol.SessionParams{SessionKey: c.key})
		if r.Messages == 0 {
			return "There is no summary to undo.", err
		}
		return fmt.Sprintf("The agent reads %s again.", messages(r.Messages)), err
	}
	in := protocol.SessionCompactParams{SessionKey: c.key, Focus: c.arg}
	number, rest, _ := strings.Cut(c.arg, " ")
	if n, err := strconv.Atoi(number); err == nil {
		in.KeepMessages, in.Focus = &n, strings.TrimSpace(rest)
	}
	r, err := c.editor.Compact(ctx, in)
	if r.TrimmedMessages == 0 {
		return "Nothing to shorten.", err
	}
	return fmt.Sprintf("Replaced %s with a summary and kept %s. /compact undo reverts it.", messages(r.TrimmedMessages), messages(r.KeptMessages)), err
}

func (c command) model(ctx context.Context) (string, error) {
	current, _ := c.chats.settings.model(c.session, nil)
	if c.arg == "" {
		return "Model: " + current.String(), nil
	}
	ref, ok := parseModel(c.arg)
	if !ok {
		return "", fmt.Errorf("write a model as PROVIDER/ID, without spaces, in at most %d bytes", maxModel)
	}
	ref.Provider = cmp.Or(ref.Provider, current.Provider)
	return "Model: " + ref.String(), c.patch(ctx, protocol.SessionPrefsPatch{Model: &protocol.ModelPatch{Provider: &ref.Provider, ID: &ref.ID}})
}

func (c command) patch(ctx context.Context, prefs protocol.SessionPrefsPatch) error {
	_, err := c.chats.Patch(ctx, protocol.SessionPatchParams{SessionKey: c.key, By: c.by.String(), Settings: &prefs})
	return err
}

func (c command) think(ctx context.Context) (string, error) {
	if c.arg == "" {
		return "Thinking: " + cmp.Or(c.session.Prefs.ThinkingLevel, "the model's default"), nil
	}
	level, ok := thinkingLevels[strings.ToLower(c.arg)]
	if !ok {
		return "", fmt.Errorf("the thinking level must be one of %s, not %q", strings.Join(protocol.ThinkingLevels, ", "), c.arg)
	}
	return "Thinking: " + level, c.patch(ctx, protocol.SessionPrefsPatch{ThinkingLevel: &level})
}

func (c command) mode(ctx context.Context) (string, error) {
	mode := protocol.ApprovalMode{Mode: protocol.ModeAsk}
	if own := c.session.Prefs.Approvals; own != nil && (own.Mode != protocol.ModeTrust || own.Until > now()) {
		mode = *own
	}
	if c.arg != "" {
		if !c.by.Has(protocol.ScopeApprove) {
			return "", errors.New("the mode cannot be set from here; use a window or a device that may answer approvals")
		}
		var err error
		if mode, err = parseMode(c.arg); err == nil {
			err = c.patch(ctx, protocol.SessionPrefsPatch{Approvals: &mode})
		}
		if err != nil {
			return "", err
		}
	}
	text := "Mode: " + mode.Mode
	if mode.Until > 0 {
		text += " until " + time.UnixMilli(mode.Until).In(c.chats.settings.zone()).Format("15:04")
	}
	if mode.Mode == protocol.ModeTrust {
		machines, _ := protocol.Unprotected(c.chats.nodes())
		text = strings.TrimSuffix(text+"\n"+protocol.StillAsks(machines), "\n")
	}
	return text, nil
}

// parseMode parses the argument of /mode.
func parseMode(arg string) (protocol.ApprovalMode, error) {
	word, minutes, _ := strings.Cut(strings.ToLower(arg), " ")
	mode := protocol.ApprovalMode{Mode: word}
	if word == protocol.ModeTrust {
		n, err := strconv.Atoi(strings.TrimSpace(minutes))
		if err != nil || n < 1 {
			return mode, errors.New("add the number of minutes, such as /mode trust 30")
		}
		mode.Until = now() + int64(n)*time.Minute.Milliseconds()
	}
	return mode, nil
}

var directivePattern = regexp.MustCompile(`(?i)(^|\s)/(think|thinking|t|model|m):(\S+)`)

// splitDirectives splits a run's message into its text and the settings for this run, which only
// the person can set.
func splitDirectives(r store.Run) (text string, d *protocol.Directives) {
	if !auth.IsOwner(r.Principal) {
		return r.Params.Message, nil
	}
	return parseDirectives(r.Params.Message)
}

// parseDirectives removes the settings for one message from its text and leaves the rest unchanged.
// Only the first setting of a kind counts, as in GSV. The form /m:4 counts only at the beginning,
// because "msbuild /m:4" does not set a model.
func parseDirectives(text string) (rest string, d *protocol.Directives) {
	var out protocol.Directives
	end := 0
	for _, at := range directivePattern.FindAllStringSubmatchIndex(text, -1) {
		isFirst := strings.TrimSpace(rest+text[end:at[0]]) == ""
		if setDirective(&out, strings.ToLower(text[at[4]:at[5]]), text[at[6]:at[7]], isFirst) {
			rest += text[end:at[3]]
			end = at[1]
		}
	}
	if end == 0 {
		return text, nil
	}
	return strings.TrimSpace(rest + text[end:]), &out
}

// setDirective parses one directive into d. It returns false when the directive sets nothing.
func setDirective(d *protocol.Directives, name, value string, isFirst bool) bool {
	if name != "model" && name != "m" {
		level, ok := thinkingLevels[strings.ToLower(value)]
		if !ok || d.ThinkLevel != "" {
			return false
		}
		d.ThinkLevel = level
		return true
	}
	ref, ok := parseModel(value)
	_, notNumber := strconv.Atoi(value)
	if !ok || d.Model != nil || name == "m" && notNumber == nil && !isFirst {
		return false
	}
	d.Model = &ref
	return true
}

var (
	yesWords = []string{"yes", "y", "approve", "approved", "ok", "okay"}
	noWords  = []string{"no", "n", "deny", "denied", "reject", "rejected"}
)

// parseAnswer parses a message as the answer to an approval: one word for yes, or a word for no
// with an optional reason.
func parseAnswer(text string) (allow bool, reason string, ok bool) {
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
