package main

import (
	"cmp"
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
	"fairlead/gateway/protocol/display"
)

// choice is a key of the menu, with the scope of its permission.
type choice struct{ key, scope, words string }

// choices are those beyond once.
var choices = []choice{
	{"s", protocol.ScopeSession, "allow in this chat"},
	{"f", protocol.ScopeFolder, "allow in this folder"},
	{"m", protocol.ScopeMachine, "allow on this machine"},
	{"w", protocol.ScopeAlways, "allow always"},
}

// menu describes the possible answers. others is the number of further approvals that ask the same,
// and together says whether they get the same answer.
func menu(a protocol.Question, others int, together bool) string {
	var b strings.Builder
	if others > 0 && !together {
		fmt.Fprintf(&b, "[=] give the same answer to the %s the same\n", othersAsk(others))
	} else if others > 0 {
		fmt.Fprintf(&b, "Your answer applies to all %d identical approvals. [=] only to this one\n", others+1)
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
			fmt.Fprintf(&b, " (warning: %s)", f.Warning)
		}
	}
	b.WriteString("\n[d] deny  [r] deny with a reason")
	if a.IsCall() {
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

// folderOffers returns the folders that a command needs and that the person may open for it. A file
// tool opens its own folder when it is allowed.
func folderOffers(a protocol.Question) []protocol.FolderAccess {
	if a.Preview == nil || a.Effect != protocol.EffectExec {
		return nil
	}
	return a.Preview.Folders
}

// chooseAnswer reads keys until they are an answer. Ctrl+D denies, and Ctrl+C is errInterrupt.
func (ch *chat) chooseAnswer(ctx context.Context, a protocol.Question, answer *protocol.QuestionAnswerParams) error {
	ch.sameAnswer = nil
	for {
		open, err := questionsOf(ch.c).calls(ctx)
		if err != nil {
			return err
		}
		all := identicalApprovals(open, a)
		line, err := ch.term.readMessage(ctx, menu(a, len(all)-1, ch.sameAnswer != nil))
		if isCtrlD(err) {
			return nil
		}
		if err != nil {
			return err
		}
		done, err := ch.handleKey(ctx, strings.ToLower(strings.TrimSpace(line)), a, all, answer)
		switch {
		case done, errors.Is(err, errInterrupt), errors.Is(err, errPostponed):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !isCtrlD(err): // Ctrl+D leads back to the approval
			ch.term.note(err.Error())
		}
	}
}

// isCtrlD reports whether a line ended with Ctrl+D.
func isCtrlD(err error) bool { return errors.Is(err, io.EOF) && !errors.Is(err, errInterrupt) }

// handleKey carries out a key of the menu. done is false if the key is unknown or does not answer.
func (ch *chat) handleKey(
	ctx context.Context, key string, a protocol.Question, all []protocol.Question, answer *protocol.QuestionAnswerParams,
) (done bool, err error) {
	scope := protocol.ScopeOnce
	choice := slices.IndexFunc(choices, func(c choice) bool { return c.key == key && slices.Contains(a.Choices, c.scope) })
	folder, isFolder := strings.CutPrefix(key, "o")
	switch {
	case key == "d":
		return true, nil
	case key == "n":
		return false, errPostponed
	case key == "r":
		if answer.Reason, err = ch.term.readMessage(ctx, "Reason: "); isCtrlD(err) {
			err = nil
		}
		return err == nil, err
	case key == "=":
		if ch.sameAnswer != nil || len(all) < 2 {
			ch.sameAnswer = nil
		} else {
			ch.sameAnswer = all
		}
		return false, nil
	case key == "a":
	case key == "e" && a.IsCall():
		if answer.Args, err = ch.editCall(ctx, a); err != nil {
			return false, err
		}
	case isFolder:
		n, err := strconv.Atoi(folder)
		if err != nil || n < 0 || n >= len(folderOffers(a)) {
			return false, nil
		}
		answer.Access = []int{n}
	case choice >= 0:
		scope = choices[choice].scope
		if scope == protocol.ScopeSession {
			break
		}
		if ok, err := ch.chooseRules(ctx, a, scope, answer); err != nil || !ok {
			return false, err
		}
	default:
		return false, nil
	}
	answer.Decision, answer.Scope = protocol.DecisionAllow, scope
	return true, nil
}

// chooseRules lets the person choose offered rules, and shows what each would have allowed.
func (ch *chat) chooseRules(ctx context.Context, a protocol.Question, scope string, answer *protocol.QuestionAnswerParams) (ok bool, err error) {
	answer.Offers = nil
	if len(a.Offers) > 1 {
		line, err := ch.term.readMessage(ctx, "Numbers of the suggested rules to create (empty: only for exactly this call): ")
		if err != nil {
			return false, err
		}
		for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' }) {
			n, err := strconv.Atoi(word)
			if err != nil || n < 0 || n >= len(a.Offers) {
				return false, fmt.Errorf("there is no suggested rule %s", clean(word))
			}
			answer.Offers = append(answer.Offers, n)
		}
	}
	for i := range a.Offers {
		if len(answer.Offers) > 0 && !slices.Contains(answer.Offers, i) {
			continue
		}
		r, err := call(ctx, ch.c, protocol.RuleTry, protocol.RuleTryParams{Approval: a.ID, Offer: i, Scope: scope, Limit: 5})
		if err != nil {
			return false, err
		}
		ch.term.note(fmt.Sprintf("%s. It would also have decided %[3]d of your last %[2]d calls.", clean(r.Words), r.Looked, len(r.Changed)))
		for _, c := range r.Changed {
			ch.term.note("  " + clean(brief(c.Call.Input)))
		}
	}
	line, err := ch.term.readMessage(ctx, "Create this rule? [y] yes, without expiry  [1h] for 1 hour  [today] until the end of today  [30d] for 30 days  [any other key] back: ")
	if err != nil {
		return false, err
	}
	key := strings.ToLower(strings.TrimSpace(line))
	if key == "y" {
		key = "never"
	}
	end, ok := display.RuleEndByKey(key)
	if answer.Until = end.At(time.Now()); answer.Until > 0 {
		ch.term.note("It expires on " + time.UnixMilli(answer.Until).Format("2 January 2006 15:04") + ".")
	}
	return ok, nil
}

// editCall lets the person change the call: a command in one line, other arguments in their editor.
func (ch *chat) editCall(ctx context.Context, a protocol.Question) (json.RawMessage, error) {
	var args map[string]json.RawMessage
	if json.Unmarshal(a.Args, &args) != nil {
		return nil, errors.New("these arguments cannot be edited")
	}
	if _, command := args["command"]; command && a.Effect == protocol.EffectExec {
		line, err := ch.term.readMessage(ctx, "Command to run instead: ")
		if errors.Is(err, errInterrupt) {
			return nil, err
		}
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
	words := strings.Fields(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR")))
	if len(words) == 0 {
		return nil, errors.New("set EDITOR to edit the arguments, or change the call in a Fairlead window")
	}
	file, err := os.CreateTemp("", "fairlead-*.json")
	if err != nil {
		return nil, fmt.Errorf("create a temporary file: %w", err)
	}
	defer os.Remove(file.Name())
	if err = errors.Join(printJSON(file, args), file.Close()); err != nil {
		return nil, fmt.Errorf("create a temporary file: %w", err)
	}
	cmd := exec.Command(words[0], append(words[1:], file.Name())...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("the editor failed: %w", err)
	}
	changed, err := os.ReadFile(file.Name())
	if err != nil {
		return nil, fmt.Errorf("read the edited file: %w", err)
	}
	if !json.Valid(changed) {
		return nil, errors.New("this is not valid JSON; nothing was changed")
	}
	return changed, nil
}
