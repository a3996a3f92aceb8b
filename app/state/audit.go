package state

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
)

// VerificationText describes a check of the log's hash chain; ok is false if it is broken.
func VerificationText(r protocol.AuditVerifyResult) (text string, ok bool) {
	if r.Broken == 0 {
		return Plural(int(r.Lines), "entry", "entries") + " verified. Nothing was changed or removed.", true
	}
	return fmt.Sprintf("Entry %d does not match the entry before it: %s. Later entries cannot be trusted.", r.Broken, r.Why), false
}

// AuditLine describes an entry of the audit log, with machines and chats by name.
func AuditLine(e protocol.AuditEntry, v View) (title, text string) {
	on := ""
	if e.Node != "" && e.Tool != "Transfer" { // a transfer's text names its ends itself
		on = onMachine(e.Node, v.MachineName(e.Node))
	}
	title = e.What
	by := byText(e.By)
	if e.By == "owner" {
		by = " by you"
	}
	if e.Kind == protocol.AuditCall {
		title = strings.TrimSpace(strings.TrimPrefix(e.Tool, protocol.FileAct) + " " + title)
		if e.Tool == "Transfer" {
			title = withMachineNames(title, v)
		}
		return title + on, auditVerdict(e, by)
	}
	title = display.Capital(strings.Replace(e.Kind, protocol.AuditRuleMade, "rule created", 1))
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
	return title + on, text
}

// CreatedPermission reports whether an entry created a permission for more than one call.
func CreatedPermission(e protocol.AuditEntry) bool {
	switch {
	case e.Kind == protocol.AuditRuleDeleted || e.Kind == protocol.AuditGrantWithdrawn:
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

// AuditPlace returns the machine and the chat of an entry: their names, with the IDs from the log.
func AuditPlace(e protocol.AuditEntry, v View) (machine, chat string) {
	switch e.Node {
	case "":
	case protocol.NativePrefix:
		machine = "the gateway"
	default:
		machine = withID(v.MachineName(e.Node), string(e.Node))
	}
	if e.SessionKey != "" {
		chat = withID(v.ChatName(e.SessionKey), string(e.SessionKey))
	}
	return machine, chat
}

// withMachineNames replaces the IDs in "Transfer box:a to tower:b" by the machines' names.
func withMachineNames(line string, v View) string {
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

// AuditWho describes who caused an entry, together with the recorded identity.
func AuditWho(e protocol.AuditEntry, v View) string {
	kind, name, _ := strings.Cut(e.By, " ")
	words := e.By
	switch kind {
	case "owner":
		words = strings.TrimPrefix("you"+byText(e.By), "you by ")
	case "agent":
		words = "the agent in “" + v.ChatName(protocol.SessionKey(name)) + "”"
	case "rule":
		if rule, ok := ruleWords(e); ok {
			words = "the rule “" + rule + "”"
		}
	}
	return withID(words, e.By)
}

func ruleWords(e protocol.AuditEntry) (words string, ok bool) {
	if words, ok = strings.CutPrefix(e.Why, e.Rule+": "); !ok {
		words, ok = strings.CutPrefix(e.Why, "Your rule: ")
	}
	return words, ok && e.Rule != ""
}

// auditVerdict describes who or which rule decided a call, for how long, and the outcome.
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
		} else if reason, ok := strings.CutPrefix(why, "the question was denied: "); ok {
			why = "“" + reason + "”"
		}
	}
	text += by
	if e.State != "" && !(e.Verdict == "deny" && e.State == protocol.CallDenied) {
		text += ", " + cmp.Or(auditStates[e.State], e.State)
	}
	if e.ExitCode != nil && *e.ExitCode != 0 {
		text += fmt.Sprintf(" with exit code %d", *e.ExitCode)
	}
	if why != "" {
		text += " · " + why
	}
	return text
}

// auditStates are the states of calls whose names are no words for the person.
var auditStates = map[string]string{
	protocol.CallCancelled: "stopped",
	protocol.CallUnknown:   "outcome unknown",
}

var auditExtents = map[string]string{
	"allowed " + protocol.ScopeOnce:    " once",
	"allowed " + protocol.ScopeSession: " for this chat",
	"allowed " + protocol.ScopeFolder:  " always in this folder",
	"allowed " + protocol.ScopeMachine: " always on this machine",
	"allowed " + protocol.ScopeAlways:  " always",
	"edited " + protocol.ScopeOnce:     " once, with changes,",
	"the question was denied":          "",
}

// unansweredWords are for approvals that closed without an answer.
var unansweredWords = map[string]string{
	"the question was " + protocol.ApprovalExpired:   "not run: the approval expired",
	"the question was " + protocol.ApprovalCancelled: "not run: cancelled before anyone answered",
}

const maxAuditPage = 1000

// ExportAudit writes all matching entries as CSV or JSONL and returns their number. It blocks.
func ExportAudit(ctx context.Context, g Gateway, w io.Writer, p protocol.AuditListParams, asCSV bool) (lines int, err error) {
	write := writeJSON
	if asCSV {
		write = writeCSV
	}
	p.Limit = maxAuditPage
	for {
		page, err := Call(ctx, g, protocol.AuditList, p)
		if err != nil {
			return lines, err
		}
		if err := write(w, page.Entries, lines == 0); err != nil {
			return lines, fmt.Errorf("writing the file: %w", err)
		}
		lines += len(page.Entries)
		if !page.More || len(page.Entries) == 0 {
			return lines, nil
		}
		p.Before = page.Entries[len(page.Entries)-1].Seq
	}
}

func writeJSON(w io.Writer, list []protocol.AuditEntry, _ bool) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, e := range list {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	return nil
}

var auditColumns = []string{
	"seq", "at", "kind", "by", "machine", "session", "run",
	"call", "tool", "what", "verdict", "why", "rule", "approval", "state", "exitCode", "hash",
}

// writeCSV writes a part of a table, with its head if it is the first.
func writeCSV(w io.Writer, list []protocol.AuditEntry, first bool) error {
	var rows [][]string
	if first {
		rows = append(rows, auditColumns)
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
				row[i] = "'" + cell // otherwise a spreadsheet would run it as a formula
			}
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(w).WriteAll(rows)
}
