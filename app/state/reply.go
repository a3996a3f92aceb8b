package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// Reply is what a person answers to a question.
type Reply struct {
	Decision string // allow or deny
	Scope    string // of an allow
	Reason   string // of a denial
	Offers   []int  // places of the offered rules to make, for a scope beyond the chat
	Until    int64  // when those rules end, in Unix milliseconds; 0 never
	Access   []int  // places of the folders to open for the call
	// Args are other arguments that the call shall have.
	Args json.RawMessage
}

// Answer answers a question without more ado. See [App.Reply].
func (a *App) Answer(q protocol.Approval, decision, scope, reason string) {
	a.Reply([]protocol.Approval{q}, Reply{Decision: decision, Scope: scope, Reason: reason})
}

// Reply answers questions: one, or several that ask the same, with one call. They leave the view at once; one whose answer could not be given returns.
func (a *App) Reply(list []protocol.Approval, r Reply) {
	if len(list) == 0 {
		return
	}
	a.Value.Update(func(v View) View {
		for _, q := range list {
			v = answering(v, q.ID, true)
		}
		v.Approvals = drop(v.Approvals, func(x protocol.Approval) bool { return holds(list, x.ID) })
		return v
	})
	a.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, rpcLimit)
		defer cancel()
		outcomes, err := a.send(ctx, list, r)
		var back []protocol.Approval
		if err != nil {
			back, outcomes = list, nil
		}
		lost := ""
		for i, q := range list[:len(outcomes)] {
			switch {
			case outcomes[i].Error != nil:
				err = outcomes[i].Error
				back = append(back, q)
			case !outcomes[i].Won && outcomes[i].Approval.State != protocol.ApprovalSuperseded:
				lost = Ended(*outcomes[i].Approval)
			}
		}
		if err != nil {
			a.fail(fmt.Errorf("your answer was not taken: %w", err))
			a.bring(ctx, back)
		}
		if lost != "" {
			a.Notify("info", "This question was answered already: "+lost+".")
		}
	})
}

func holds(list []protocol.Approval, id protocol.ApprovalID) bool {
	return slices.ContainsFunc(list, func(q protocol.Approval) bool { return q.ID == id })
}

// send gives the answer and returns an outcome for each question.
func (a *App) send(ctx context.Context, list []protocol.Approval, r Reply) ([]protocol.ApprovalOutcome, error) {
	if len(list) == 1 {
		q := list[0]
		res, err := Call(ctx, a, protocol.ApprovalAnswer, protocol.ApprovalAnswerParams{
			ID: q.ID, Hash: q.Hash, Decision: r.Decision, Scope: r.Scope,
			Reason: r.Reason, Offers: r.Offers, Until: r.Until, Access: r.Access, Args: r.Args,
		})
		return []protocol.ApprovalOutcome{{ID: q.ID, Won: res.Won, Approval: &res.Approval}}, err
	}
	p := protocol.ApprovalAnswerAllParams{Decision: r.Decision, Scope: r.Scope, Reason: r.Reason, Offers: r.Offers, Until: r.Until, Access: r.Access, Args: r.Args}
	for _, q := range list {
		p.Questions = append(p.Questions, protocol.ShownQuestion{ID: q.ID, Hash: q.Hash})
	}
	res, err := Call(ctx, a, protocol.ApprovalAll, p)
	if err == nil && len(res.Outcomes) != len(list) {
		err = fmt.Errorf("the gateway answered for %d of %d questions", len(res.Outcomes), len(list))
	}
	return res.Outcomes, err
}

// bring shows questions again whose answer was not taken, as far as they are still open.
func (a *App) bring(ctx context.Context, list []protocol.Approval) {
	open, err := Call(ctx, a, protocol.ApprovalList, protocol.Empty{})
	a.Value.Update(func(v View) View {
		for _, q := range list {
			v = answering(v, q.ID, false)
			if err != nil {
				v = reduceApproval(v, q)
			}
		}
		for _, q := range open.Approvals {
			if holds(list, q.ID) {
				v = reduceApproval(v, q)
			}
		}
		return v
	})
}

// WithNetwork are a command's arguments with the wish for the network, or without it.
func WithNetwork(args json.RawMessage, on bool) (json.RawMessage, error) {
	return withArg(args, "network", on, on)
}

func withArg(args json.RawMessage, name string, value any, keep bool) (json.RawMessage, error) {
	fields := make(map[string]json.RawMessage)
	if err := json.Unmarshal(args, &fields); err != nil {
		return nil, fmt.Errorf("read the call's arguments: %w", err)
	}
	delete(fields, name)
	if keep {
		raw, err := protocol.Marshal(value)
		if err != nil {
			return nil, err
		}
		fields[name] = raw
	}
	return protocol.Marshal(fields)
}

// AsksNetwork reports whether a call asks for the network, and whether an answer decides that: a command on a machine that keeps the network from commands
// and gives it to single ones.
func AsksNetwork(q protocol.Approval) (asks, offer bool) {
	var in struct {
		Network bool `json:"network"`
	}
	if q.Tool != "Bash" || json.Unmarshal(q.Args, &in) != nil {
		return false, false
	}
	return in.Network, q.Host != nil && q.Host.Enforcement != nil && q.Host.Enforcement.Lends
}

// OpensItself reports whether an allow of this call opens the folder that it needs, as that is all there is to allow: a file tool outside.
func OpensItself(q protocol.Approval) bool {
	return q.Effect == protocol.EffectRead || q.Effect == protocol.EffectWrite
}

// FolderOffers are the folders that the call needs and that the person may open for it, by their place.
func FolderOffers(q protocol.Approval) []protocol.FolderAccess {
	if q.Preview == nil || q.Kind != protocol.AskCall {
		return nil
	}
	return q.Preview.Folders
}

// NotConfined reports whether nothing holds a command on the machine that a question is about.
func NotConfined(q protocol.Approval) bool {
	return q.Effect == protocol.EffectExec && (q.Sandbox == "" || q.Sandbox == protocol.NotEnforced ||
		q.Host != nil && q.Host.Enforcement != nil && q.Host.Enforcement.Summary == "none")
}

// FilesText says which of the person's rules about files hold for the code that a call runs; "" when there is nothing to say.
func FilesText(q protocol.Approval) string {
	if q.Files == "" {
		return ""
	}
	return sentence(errors.New(q.Files)) + "."
}

// FilesLoose reports whether some of them do not hold.
func FilesLoose(q protocol.Approval) bool { return strings.HasPrefix(q.Files, "nothing keeps") }

// PartlyConfined reports whether a command is held in some ways only; the question's Sandbox says in which.
func PartlyConfined(q protocol.Approval) bool {
	return q.Effect == protocol.EffectExec && !NotConfined(q) && strings.Contains(q.Sandbox, protocol.NotEnforced)
}

// NetworkWords says what a wish for the network comes to where no answer decides it; empty where there is none. open: the command has it anyway.
func NetworkWords(q protocol.Approval) (words string, open bool) {
	asks, offer := AsksNetwork(q)
	switch {
	case !asks || offer:
		return "", false
	case NotConfined(q) || strings.Contains(q.Sandbox, "network "+protocol.NotEnforced):
		return "asked for; " + protocol.NotEnforced + ": it has it anyway", true
	}
	return "asked for", false
}

// Alike are the open questions that ask exactly what q does, see [protocol.Approval.SameAs]. q is one of them.
func Alike(open []protocol.Approval, q protocol.Approval) []protocol.Approval {
	return drop(open, func(o protocol.Approval) bool { return !q.SameAs(o) })
}

// ScopeWords says what an allow with a scope covers, for a menu.
func ScopeWords(q protocol.Approval, scope string) string {
	switch scope {
	case protocol.ScopeOnce:
		return "Allow once"
	case protocol.ScopeSession:
		return "Allow in this chat: " + q.SessionRule
	case protocol.ScopeFolder:
		return "Always in this folder…"
	case protocol.ScopeMachine:
		return "Always on this machine…"
	case protocol.ScopeAlways:
		return "Always, everywhere…"
	}
	return scope
}

// OfferedRule is a rule that an answer may make, as the gateway will make it.
type OfferedRule struct {
	Place  int // among the question's offers
	Words  string
	Policy json.RawMessage
	Wide   bool // it lets more through than the words that are shown
}

// OfferedRules are the rules that an allow with a scope may make, as the gateway words them.
func OfferedRules(q protocol.Approval, scope string) []OfferedRule {
	var out []OfferedRule
	for i, o := range q.Offers {
		as, ok := o.As[scope]
		var p struct{ Argv []any }
		if !ok || json.Unmarshal(as.Policy, &p) != nil {
			continue
		}
		wide := len(p.Argv) > 0 && p.Argv[len(p.Argv)-1] == "**"
		out = append(out, OfferedRule{Place: i, Words: as.Words, Policy: as.Policy, Wide: wide})
	}
	return out
}

// NarrowOffers are the places of the rules that let exactly the shown words through.
func NarrowOffers(rules []OfferedRule) []int {
	var out []int
	for _, r := range rules {
		if !r.Wide {
			out = append(out, r.Place)
		}
	}
	return slices.Clip(out)
}

// TriedOn begins what a rule would have decided of so many earlier calls, which are at least one.
func TriedOn(n int) string {
	if n == 1 {
		return "Tried on the last call"
	}
	return fmt.Sprintf("Tried on the last %d calls", n)
}

// NothingToTry is said where there is none.
const NothingToTry = "No call was made yet that it could be tried on."

// TryRule says what of the calls that were made before a rule would have decided otherwise. It blocks.
func (a *App) TryRule(ctx context.Context, policy json.RawMessage) (protocol.RuleTryResult, error) {
	return Call(ctx, a, protocol.RuleTry, protocol.RuleTryParams{Policy: policy, Limit: 50})
}

// Editable is the field of a call that a person may change before it runs, with its name in the windows.
func Editable(q protocol.Approval) (name, text string, ok bool) {
	field, name := editField(q)
	var in map[string]any
	if field == "" || q.Kind != protocol.AskCall || json.Unmarshal(q.Args, &in) != nil {
		return "", "", false
	}
	text, ok = in[field].(string)
	return name, text, ok
}

func editField(q protocol.Approval) (field, name string) {
	switch q.Tool {
	case "Bash":
		return "command", "The command"
	case "Write":
		return "content", "What is written"
	case "Edit":
		return "newString", "The new text"
	}
	return "", ""
}

// WithEdited are a call's arguments with another text in their editable field; nil when it is the same.
func WithEdited(q protocol.Approval, text string) (json.RawMessage, error) {
	_, was, ok := Editable(q)
	switch {
	case !ok:
		return nil, fmt.Errorf("%s cannot be changed", q.Tool)
	case text == was:
		return nil, nil
	case q.Tool == "Bash" && strings.TrimSpace(text) == "":
		return nil, fmt.Errorf("there is no command")
	}
	field, _ := editField(q)
	return withArg(q.Args, field, text, true)
}

// CallLine is a call of the journal in one line: what it did, on which machine.
func (v View) CallLine(c protocol.JournalEntry) string { return CallLine(c, v.MachineName(c.Node)) }

// CallLine is a call of the journal in one line, with what its machine is called.
func CallLine(c protocol.JournalEntry, machine string) string {
	return QuestionLine(protocol.Approval{Kind: protocol.AskCall, Tool: c.Tool, Args: c.Input, Node: c.Node}, machine)
}
