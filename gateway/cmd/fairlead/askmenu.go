package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"fairlead/gateway/protocol"
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
func menu(a protocol.Approval, others int, together bool) string {
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

// folderOffers returns the folders that a command needs and that the person may open for it. A file
// tool opens its own folder when it is allowed.
func folderOffers(a protocol.Approval) []protocol.FolderAccess {
	if a.Preview == nil || a.Effect != protocol.EffectExec {
		return nil
	}
	return a.Preview.Folders
}

// chooseAnswer reads keys until they are an answer. Ctrl+D denies, other keys are asked again, and
// Ctrl+C is errInterrupt.
func (ch *chat) chooseAnswer(ctx context.Context, a protocol.Approval, answer *protocol.ApprovalAnswerParams) error {
	ch.sameAnswer = nil
	for {
		open, err := call(ctx, ch.c, protocol.ApprovalList, protocol.Empty{})
		if err != nil {
			return err
		}
		all := identicalApprovals(open.Approvals, a)
		line, err := ch.term.readMessage(ctx, menu(a, len(all)-1, ch.sameAnswer != nil))
		if isCtrlD(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if done, err := ch.handleKey(ctx, strings.ToLower(strings.TrimSpace(line)), a, all, answer); done || err != nil {
			return err
		}
	}
}

// isCtrlD reports whether a line ended with Ctrl+D.
func isCtrlD(err error) bool { return errors.Is(err, io.EOF) && !errors.Is(err, errInterrupt) }

// handleKey carries out a key of the menu. done is false if the key is unknown or does not answer.
func (ch *chat) handleKey(
	ctx context.Context, key string, a protocol.Approval, all []protocol.Approval, answer *protocol.ApprovalAnswerParams,
) (done bool, err error) {
	allow := func(scope string) (bool, error) {
		answer.Decision, answer.Scope = protocol.DecisionAllow, scope
		return true, nil
	}
	switch key {
	case "a":
		return allow(protocol.ScopeOnce)
	case "d":
		return true, nil
	case "=":
		if ch.sameAnswer != nil || len(all) < 2 {
			ch.sameAnswer = nil
		} else {
			ch.sameAnswer = all
		}
		return false, nil
	case "n":
		return false, errPostponed
	case "r":
		if answer.Reason, err = ch.term.readMessage(ctx, "Reason: "); isCtrlD(err) {
			err = nil
		}
		return err == nil, err
	case "e":
		if a.Kind != protocol.AskCall {
			return false, nil
		}
		if answer.Args, err = ch.editCall(ctx, a); errors.Is(err, errInterrupt) {
			return false, err
		} else if err != nil {
			ch.term.note(err.Error())
			return false, nil
		}
		return allow(protocol.ScopeOnce)
	}
	return ch.handleScopeKey(ctx, key, a, answer)
}

// handleScopeKey handles the keys that allow with a folder or for longer than one call.
func (ch *chat) handleScopeKey(
	ctx context.Context, key string, a protocol.Approval, answer *protocol.ApprovalAnswerParams,
) (done bool, err error) {
	if place, ok := strings.CutPrefix(key, "o"); ok {
		n, err := strconv.Atoi(place)
		if err != nil || n < 0 || n >= len(folderOffers(a)) {
			return false, nil
		}
		answer.Access, answer.Decision, answer.Scope = []int{n}, protocol.DecisionAllow, protocol.ScopeOnce
		return true, nil
	}
	i := slices.IndexFunc(choices, func(c choice) bool { return c.key == key && slices.Contains(a.Choices, c.scope) })
	if i < 0 {
		return false, nil
	}
	scope := choices[i].scope
	if scope != protocol.ScopeSession {
		ok, err := ch.chooseRules(ctx, a, scope, answer)
		if errors.Is(err, errInterrupt) {
			return false, err
		}
		if err != nil {
			ch.term.note(err.Error())
		}
		if err != nil || !ok {
			return false, nil
		}
	}
	answer.Decision, answer.Scope = protocol.DecisionAllow, scope
	return true, nil
}
