package state

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// Audit loads a page of the audit log, newest first. It blocks.
func (a *App) Audit(ctx context.Context, p protocol.AuditListParams) (protocol.AuditListResult, error) {
	return Call(ctx, a, protocol.AuditList, p)
}

// VerifyAudit looks whether the audit log was changed. It blocks.
func (a *App) VerifyAudit(ctx context.Context) (protocol.AuditVerifyResult, error) {
	return Call(ctx, a, protocol.AuditVerify, protocol.Empty{})
}

// UndoGrant takes back what the answer to a question gave beyond its call. It blocks.
func (a *App) UndoGrant(ctx context.Context, id protocol.ApprovalID) (protocol.ApprovalUndoResult, error) {
	return Call(ctx, a, protocol.ApprovalUndo, protocol.ApprovalParams{ID: id})
}

// Verified says in a sentence what a look at the chain found; ok is false when it is broken.
func Verified(r protocol.AuditVerifyResult) (text string, ok bool) {
	if r.Broken == 0 {
		return "All " + Plural(int(r.Lines), "line holds", "lines hold") + " together: nobody has changed or removed any.", true
	}
	return fmt.Sprintf("Line %d does not follow from the line before it: %s. What comes after it proves nothing.", r.Broken, r.Why), false
}

// AuditLine is a line of the audit log in words, with machines and chats called as the windows call them.
func AuditLine(e protocol.AuditEntry, v View) (title, text string) {
	on := ""
	if e.Node != "" && e.Tool != "Transfer" { // which says itself from where to where
		on = onMachine(e.Node, v.MachineName(e.Node))
	}
	title = e.What
	by := byWhom(e.By)
	if e.By == "owner" {
		by = " by you"
	}
	switch e.Kind {
	case protocol.AuditCall:
		title = strings.TrimSpace(strings.TrimPrefix(e.Tool, protocol.FileAct) + " " + title)
		if e.Tool == "Transfer" {
			title = endsNamed(title, v)
		}
		text = auditVerdict(e, by)
	default:
		title = protocol.Capital(e.Kind)
		if e.What != "" {
			title += ": " + e.What
		}
		if e.SessionKey != "" {
			title += " in “" + v.ChatName(e.SessionKey) + "”"
		}
		text = strings.TrimSpace(by)
		if e.Why != "" {
			text += " · " + e.Why
		}
	}
	return title + on, text
}

// Gave reports whether a line of the audit log is about something that lets more pass than one call, and that can be taken back: a rule, or an answer
// for more than once.
func Gave(e protocol.AuditEntry) bool {
	switch {
	case e.Kind == protocol.AuditRuleDeleted || e.Kind == protocol.AuditGrantGone:
		return false
	case e.Rule != "":
		return true
	case e.Approval == "":
		return false
	case e.Kind != protocol.AuditCall:
		return true
	}
	return e.Verdict == "allow" && !strings.HasSuffix(e.Why, " "+protocol.ScopeOnce)
}

// AuditPlace says on which machine and in which chat a line of the audit log happened: their names, with the ids that the log holds.
func AuditPlace(e protocol.AuditEntry, v View) (machine, chat string) {
	switch e.Node {
	case "":
	case protocol.NativePrefix:
		machine = "the gateway"
	default:
		machine = named(v.MachineName(e.Node), string(e.Node))
	}
	if e.SessionKey != "" {
		chat = named(v.ChatName(e.SessionKey), string(e.SessionKey))
	}
	return machine, chat
}

// endsNamed calls the ends of a transfer, "Transfer box:a to tower:b", as the windows call their machines.
func endsNamed(line string, v View) string {
	from, to, ok := strings.Cut(line, " to ")
	verb, source, spaced := strings.Cut(from, " ")
	if !ok || !spaced {
		return line
	}
	named := func(end string) string {
		id, path, ok := strings.Cut(end, ":")
		if !ok {
			return end
		}
		return EndName(v, protocol.NodeID(id)) + ":" + path
	}
	return verb + " " + named(source) + " to " + named(to)
}

// AuditWho says whose a line of the audit log is, in words, with what the log holds.
func AuditWho(e protocol.AuditEntry, v View) string {
	kind, name, _ := strings.Cut(e.By, " ")
	words := e.By
	switch kind {
	case "owner":
		words = strings.TrimPrefix("you"+byWhom(e.By), "you by ")
	case "agent":
		words = "the agent in “" + v.ChatName(protocol.SessionKey(name)) + "”"
	case "rule":
		if rule, ok := ruleWords(e); ok {
			words = "the rule “" + rule + "”"
		}
	}
	return named(words, e.By)
}

// ruleWords are those of the rule that decided about a call.
func ruleWords(e protocol.AuditEntry) (words string, ok bool) {
	if words, ok = strings.CutPrefix(e.Why, e.Rule+": "); !ok {
		words, ok = strings.CutPrefix(e.Why, "your rule: ")
	}
	return words, ok && e.Rule != ""
}

// auditVerdict says who decided about a call, how far that went, and what came of it. A rule is named by its words: its id is in the line's details.
func auditVerdict(e protocol.AuditEntry, by string) string {
	if unanswered := unansweredWords[e.Why]; unanswered != "" && e.Approval != "" {
		return unanswered
	}
	why := e.Why
	if words, ok := ruleWords(e); ok && e.By == "rule "+e.Rule {
		why, by = "", " by the rule “"+words+"”"
	}
	text := map[string]string{"allow": "allowed", "deny": "denied", "ask": "asked"}[e.Verdict]
	if e.Approval != "" {
		if extent, ok := auditExtents[why]; ok {
			why, text = "", text+extent
		}
	}
	text += by
	if e.State != "" && !(e.Verdict == "deny" && e.State == protocol.CallDenied) {
		text += ", " + e.State
	}
	if e.ExitCode != nil && *e.ExitCode != 0 {
		text += fmt.Sprintf(" with exit code %d", *e.ExitCode)
	}
	if why != "" {
		text += " · " + why
	}
	return text
}

// auditExtents are the ways a question ends, as the gateway writes them, in words.
var auditExtents = map[string]string{
	"allowed " + protocol.ScopeOnce:    " once",
	"allowed " + protocol.ScopeSession: " for this chat",
	"allowed " + protocol.ScopeFolder:  " always in this folder",
	"allowed " + protocol.ScopeMachine: " always on this machine",
	"allowed " + protocol.ScopeAlways:  " always",
	"edited " + protocol.ScopeOnce:     " once, after a change,",
	"the question was denied":          "",
}

// unansweredWords are for questions that ended without an answer.
var unansweredWords = map[string]string{
	"the question was " + protocol.ApprovalExpired:   "not run: nobody answered in time",
	"the question was " + protocol.ApprovalCancelled: "not run: it was stopped before anyone answered",
}

// maxAuditPage is the most lines that are asked for at once.
const maxAuditPage = 1000

// ExportAudit writes every line that a filter lets through, newest first, as CSV or as JSONL, and returns how many. It blocks.
func (a *App) ExportAudit(ctx context.Context, w io.Writer, p protocol.AuditListParams, asCSV bool) (lines int, err error) {
	write := jsonLines(w)
	if asCSV {
		write = csvLines(w)
	}
	p.Limit = maxAuditPage
	for {
		page, err := a.Audit(ctx, p)
		if err != nil {
			return lines, err
		}
		if err := write(page.Entries); err != nil {
			return lines, fmt.Errorf("write the file: %w", err)
		}
		lines += len(page.Entries)
		if !page.More || len(page.Entries) == 0 {
			return lines, nil
		}
		p.Before = page.Entries[len(page.Entries)-1].Seq
	}
}

func jsonLines(w io.Writer) func([]protocol.AuditEntry) error {
	return func(list []protocol.AuditEntry) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for _, e := range list {
			if err := enc.Encode(e); err != nil {
				return err
			}
		}
		return nil
	}
}

func csvLines(w io.Writer) func([]protocol.AuditEntry) error {
	c := csv.NewWriter(w)
	head := []string{"seq", "at", "kind", "by", "machine", "session", "run", "call", "tool", "what", "verdict", "why", "rule", "approval", "state", "exitCode", "hash"}
	return func(list []protocol.AuditEntry) error {
		if head != nil {
			if err := c.Write(head); err != nil {
				return err
			}
			head = nil
		}
		for _, e := range list {
			exit := ""
			if e.ExitCode != nil {
				exit = strconv.Itoa(*e.ExitCode)
			}
			row := []string{
				strconv.FormatInt(e.Seq, 10), time.UnixMilli(e.At).UTC().Format(time.RFC3339), e.Kind, e.By, string(e.Node), string(e.SessionKey), string(e.RunID),
				string(e.CallID), e.Tool, e.What, e.Verdict, e.Why, e.Rule, string(e.Approval), e.State, exit, e.Hash,
			}
			for i, cell := range row {
				if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
					row[i] = "'" + cell // a spreadsheet would take it for a formula
				}
			}
			if err := c.Write(row); err != nil {
				return err
			}
		}
		c.Flush()
		return c.Error()
	}
}
