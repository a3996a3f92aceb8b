package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// question asks the person, or answers as --approve says. When it is answered elsewhere meanwhile, that is told and nothing more is asked.
func (ch *chat) question(ctx context.Context, a protocol.Approval) error {
	t := ch.term
	if a.State != protocol.ApprovalPending {
		t.answered(a)
		return nil
	}
	if _, again := t.asked[a.ID]; again && !t.comesBack(a) {
		return nil
	}
	if a.Later != 0 && t.approve == "" && t.interactive() {
		t.putOff(a)
		return nil
	}
	put[protocol.ApprovalID, any](&t.asked, a.ID, nil)
	answer := protocol.ApprovalAnswerParams{ID: a.ID, Hash: a.Hash, Decision: protocol.DecisionDeny}
	if t.json {
		t.emit("approval", a)
	} else {
		t.newline()
		fmt.Fprint(t.err, questionBox(a))
	}
	switch {
	case t.approve == protocol.ScopeOnce:
		answer.Decision, answer.Scope = protocol.DecisionAllow, protocol.ScopeOnce
	case t.approve == protocol.DecisionDeny:
		answer.Reason = "the command was started with --approve deny"
	case !t.interactive():
		t.note("Waiting for an answer from a Fairlead window or another terminal.")
		return nil
	default:
		shown := protocol.ApprovalShownParams{ID: a.ID, Surface: protocol.SurfaceTerminal}
		if _, err := client.Call(ctx, ch.c.Client, protocol.ApprovalShown, shown); err != nil && !errors.Is(err, protocol.ErrNotFound) {
			return err
		}
		var elsewhere bool
		var err error
		if answer, elsewhere, err = ch.read(ctx, a, answer); elsewhere {
			return nil
		} else if errors.Is(err, errNotNow) {
			return ch.notNow(ctx, a)
		} else if err != nil {
			return err
		}
	}
	if len(ch.same) > 1 {
		for _, q := range ch.same {
			put[protocol.ApprovalID, any](&t.asked, q.ID, nil)
		}
		return answerSame(ctx, ch.c, t.err, false, ch.same, protocol.ApprovalAnswerAllParams{
			Decision: answer.Decision, Scope: answer.Scope, Reason: answer.Reason,
			Offers: answer.Offers, Args: answer.Args, Access: answer.Access, Until: answer.Until,
		})
	}
	res, err := client.Call(ctx, ch.c.Client, protocol.ApprovalAnswer, answer)
	if err != nil {
		return err
	}
	if !res.Won {
		delete(t.asked, a.ID)
		t.answered(res.Approval)
	}
	return nil
}

// read reads the person's answer and meanwhile looks whether the question ends elsewhere.
func (ch *chat) read(ctx context.Context, a protocol.Approval, answer protocol.ApprovalAnswerParams) (_ protocol.ApprovalAnswerParams, elsewhere bool, err error) {
	done := make(chan struct{})
	var readErr error
	go func() {
		defer close(done)
		readErr = ch.choose(ctx, a, &answer)
	}()
	for {
		select {
		case <-done:
			return answer, elsewhere, readErr
		case change := <-ch.changes:
			if q := change.Approval; q != nil && q.ID == a.ID && q.State != protocol.ApprovalPending && !elsewhere {
				elsewhere = true // the line that is being read cannot be taken back
				ch.term.note(fmt.Sprintf("\r\nThe question was %s by %s. Press Enter.\r", q.State, q.AnsweredBy))
				continue
			}
			ch.held = append(ch.held, change)
		}
	}
}

// choices are the keys of an answer beyond once, with the scope each allows.
var choices = []struct{ key, scope, words string }{
	{"s", protocol.ScopeSession, "allow in this chat"},
	{"f", protocol.ScopeFolder, "allow in this folder"},
	{"m", protocol.ScopeMachine, "allow on this machine"},
	{"w", protocol.ScopeAlways, "allow always"},
}

// menu says what can be answered. others is how many more questions ask the same, and together whether they get the same answer.
func menu(a protocol.Approval, others int, together bool) string {
	var b strings.Builder
	if others > 0 && !together {
		fmt.Fprintf(&b, "[=] answer the %s exactly this, too\n", othersAsk(others))
	} else if others > 0 {
		fmt.Fprintf(&b, "Your answer is for all %d that ask this. [=] only for this one\n", others+1)
	}
	b.WriteString("[a] allow once")
	for _, c := range choices {
		if !slices.Contains(a.Choices, c.scope) {
			continue
		}
		fmt.Fprintf(&b, "  [%s] %s", c.key, c.words)
		if c.scope == protocol.ScopeSession && a.SessionRule != "" {
			b.WriteString(": " + a.SessionRule)
		}
	}
	for i, f := range folderOffers(a) {
		fmt.Fprintf(&b, "\n[o%d] allow once, with %s", i, clean(f.Words()))
		if f.Warning != "" {
			fmt.Fprintf(&b, " (take care: %s)", f.Warning)
		}
	}
	b.WriteString("\n[d] deny  [r] deny with a reason")
	if a.Kind == protocol.AskCall {
		b.WriteString("  [e] edit, then allow once")
	}
	b.WriteString("  [n] not now: ")
	return b.String()
}

func othersAsk(n int) string {
	if n == 1 {
		return "other one that asks"
	}
	return fmt.Sprintf("%d others that ask", n)
}

// folderOffers are the folders that a command needs and that the person may open for it. A file tool opens its own with the allow.
func folderOffers(a protocol.Approval) []protocol.FolderAccess {
	if a.Preview == nil || a.Effect != protocol.EffectExec {
		return nil
	}
	return a.Preview.Folders
}

// choose reads keys until they are an answer. Leaving with Ctrl+D is a denial, and so is whatever is not understood: it asks again.
func (ch *chat) choose(ctx context.Context, a protocol.Approval, answer *protocol.ApprovalAnswerParams) error {
	ch.same = nil
	for {
		open, err := client.Call(ctx, ch.c.Client, protocol.ApprovalList, protocol.Empty{})
		if err != nil {
			return err
		}
		all := alike(open.Approvals, a)
		line, err := ch.term.readMessage(menu(a, len(all)-1, ch.same != nil))
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		key := strings.ToLower(strings.TrimSpace(line))
		switch key {
		case "a":
			answer.Decision, answer.Scope = protocol.DecisionAllow, protocol.ScopeOnce
			return nil
		case "d":
			return nil
		case "=":
			if ch.same != nil || len(all) < 2 {
				ch.same = nil
			} else {
				ch.same = all
			}
			continue
		case "n":
			return errNotNow
		case "r":
			if answer.Reason, err = ch.term.readMessage("Reason: "); err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			return nil
		case "e":
			if a.Kind != protocol.AskCall {
				continue
			}
			if answer.Args, err = ch.edit(a); err != nil {
				ch.term.note(err.Error())
				continue
			}
			answer.Decision, answer.Scope = protocol.DecisionAllow, protocol.ScopeOnce
			return nil
		}
		if place, ok := strings.CutPrefix(key, "o"); ok {
			if n, err := strconv.Atoi(place); err == nil && n >= 0 && n < len(folderOffers(a)) {
				answer.Decision, answer.Scope, answer.Access = protocol.DecisionAllow, protocol.ScopeOnce, []int{n}
				return nil
			}
			continue
		}
		for _, c := range choices {
			if c.key != key || !slices.Contains(a.Choices, c.scope) {
				continue
			}
			if c.scope != protocol.ScopeSession {
				if ok, err := ch.offers(ctx, a, c.scope, answer); err != nil || !ok {
					if err != nil {
						ch.term.note(err.Error())
					}
					continue
				}
			}
			answer.Decision, answer.Scope = protocol.DecisionAllow, c.scope
			return nil
		}
	}
}

// offers lets the person choose among the offered rules and shows what each would have let through of what was called before.
func (ch *chat) offers(ctx context.Context, a protocol.Approval, scope string, answer *protocol.ApprovalAnswerParams) (ok bool, err error) {
	answer.Offers = nil
	if len(a.Offers) > 1 {
		line, err := ch.term.readMessage("Numbers of the offers to make rules of (empty: only exactly what is shown): ")
		if err != nil {
			return false, nil
		}
		for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' }) {
			n, err := strconv.Atoi(word)
			if err != nil || n < 0 || n >= len(a.Offers) {
				return false, fmt.Errorf("there is no offer %s", clean(word))
			}
			answer.Offers = append(answer.Offers, n)
		}
	}
	for i := range a.Offers {
		if len(answer.Offers) > 0 && !slices.Contains(answer.Offers, i) {
			continue
		}
		r, err := client.Call(ctx, ch.c.Client, protocol.RuleTry, protocol.RuleTryParams{Approval: a.ID, Offer: i, Scope: scope, Limit: 5})
		if err != nil {
			return false, err
		}
		ch.term.note(fmt.Sprintf("%s. Of your last %d calls it would also have decided %d.", clean(r.Words), r.Looked, len(r.Changed)))
		for _, c := range r.Changed {
			ch.term.note("  " + clean(brief(c.Call.Input)))
		}
	}
	line, err := ch.term.readMessage("Make it? [y] yes, without an end  [1h] for 1 hour  [today] until the end of today  [30d] for 30 days  [any other key] back: ")
	if err != nil {
		return false, nil
	}
	key := strings.ToLower(strings.TrimSpace(line))
	if key == "y" {
		key = "never"
	}
	end, ok := protocol.RuleEndByKey(key)
	if answer.Until = end.At(time.Now()); answer.Until > 0 {
		ch.term.note("It ends on " + time.UnixMilli(answer.Until).Format("2 January 2006 15:04") + ".")
	}
	return ok, nil
}

// edit lets the person change the call: a command in one line, anything else in their editor.
func (ch *chat) edit(a protocol.Approval) (json.RawMessage, error) {
	var args map[string]json.RawMessage
	if json.Unmarshal(a.Args, &args) != nil {
		return nil, errors.New("these arguments cannot be edited")
	}
	if _, command := args["command"]; command && a.Effect == protocol.EffectExec {
		line, err := ch.term.readMessage("Command to run instead: ")
		if err != nil || strings.TrimSpace(line) == "" {
			return nil, errors.New("nothing was changed")
		}
		raw, err := protocol.Marshal(line)
		if err != nil {
			return nil, err
		}
		args["command"] = raw
		return protocol.Marshal(args)
	}
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	words := strings.Fields(editor)
	if len(words) == 0 {
		return nil, errors.New("set EDITOR to edit the arguments, or change the call in a Fairlead window")
	}
	file, err := os.CreateTemp("", "fairlead-*.json")
	if err != nil {
		return nil, fmt.Errorf("make a file to edit: %w", err)
	}
	defer os.Remove(file.Name())
	text, err := json.MarshalIndent(args, "", "  ")
	if err == nil {
		_, err = file.Write(text)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("make a file to edit: %w", err)
	}
	cmd := exec.Command(words[0], append(words[1:], file.Name())...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("the editor failed: %w", err)
	}
	changed, err := os.ReadFile(file.Name())
	if err != nil {
		return nil, fmt.Errorf("read what was edited: %w", err)
	}
	if !json.Valid(changed) {
		return nil, errors.New("what you wrote is not JSON; nothing was changed")
	}
	return changed, nil
}
