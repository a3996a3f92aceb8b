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

	"fairlead/app/feed"
	"fairlead/app/question"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// VerificationText describes a check of the log's hash chain; ok is false if it is broken.
func VerificationText(r protocol.AuditVerifyResult) (text string, ok bool) {
	if r.Broken == 0 {
		return wording.Plural(int(r.Lines), "entry", "entries") + " verified. Nothing was changed or removed.", true
	}
	return fmt.Sprintf("Entry %d does not match the entry before it: %s. Later entries cannot be trusted.", r.Broken, r.Why), false
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
func AuditPlace(e protocol.AuditEntry, v feed.View) (machine, chat string) {
	switch e.Node {
	case "":
	case protocol.NativePrefix:
		machine = "the gateway"
	default:
		machine = withID(v.Machines.Name(e.Node), string(e.Node))
	}
	if e.SessionKey != "" {
		chat = withID(v.ChatName(e.SessionKey), string(e.SessionKey))
	}
	return machine, chat
}

// AuditWho describes who decided about an entry, together with the recorded identity.
func AuditWho(e protocol.AuditEntry, v feed.View) string {
	words := display.Answerer(e.By)
	switch kind, name, _ := strings.Cut(e.By, " "); kind {
	case "agent":
		words = "the agent in “" + v.ChatName(protocol.SessionKey(name)) + "”"
	case "rule":
		if rule, ok := display.RuleWords(e); ok {
			words = "the rule “" + rule + "”"
		}
	}
	return withID(words, e.By)
}

// AuditAsker describes who wanted a call, or "" if that was not recorded.
func AuditAsker(e protocol.AuditEntry) string {
	if e.AskedBy == nil {
		return ""
	}
	return question.AskerText(*e.AskedBy)
}

const maxAuditPage = 1000

// ExportAudit writes all matching entries as CSV or JSONL and returns their number. It blocks.
func ExportAudit(ctx context.Context, g feed.Gateway, w io.Writer, p protocol.AuditListParams, asCSV bool) (lines int, err error) {
	write := writeJSON
	if asCSV {
		write = writeCSV
	}
	p.Limit = maxAuditPage
	for {
		page, err := feed.Call(ctx, g, protocol.AuditList, p)
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
