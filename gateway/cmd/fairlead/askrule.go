package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// chooseRules lets the person choose among the offered rules and shows which earlier calls each
// would have allowed.
func (ch *chat) chooseRules(ctx context.Context, a protocol.Approval, scope string, answer *protocol.ApprovalAnswerParams) (ok bool, err error) {
	answer.Offers = nil
	if len(a.Offers) > 1 {
		line, err := ch.term.readMessage(ctx, "Numbers of the suggested rules to create (empty: only for exactly this call): ")
		if err != nil {
			return false, ignoreCtrlD(err)
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
		return false, ignoreCtrlD(err)
	}
	key := strings.ToLower(strings.TrimSpace(line))
	if key == "y" {
		key = "never"
	}
	end, ok := protocol.RuleEndByKey(key)
	if answer.Until = end.At(time.Now()); answer.Until > 0 {
		ch.term.note("It expires on " + time.UnixMilli(answer.Until).Format("2 January 2006 15:04") + ".")
	}
	return ok, nil
}

// ignoreCtrlD returns nil for a line that was ended by Ctrl+D, which leads back to the approval,
// and err otherwise.
func ignoreCtrlD(err error) error {
	if errors.Is(err, errInterrupt) {
		return err
	}
	return nil
}
