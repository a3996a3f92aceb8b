package audit

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
	"fairlead/gateway/protocol"
)

const maxPage = 1000

// exportTo writes all matching entries as CSV or JSONL and returns their number. It blocks.
func exportTo(ctx context.Context, g feed.Gateway, w io.Writer, p protocol.AuditListParams, asCSV bool) (lines int, err error) {
	write := writeJSON
	if asCSV {
		write = writeCSV
	}
	p.Limit = maxPage
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

var columns = []string{
	"seq", "at", "kind", "by", "machine", "session", "run",
	"call", "tool", "what", "verdict", "why", "rule", "approval", "state", "exitCode", "hash", "undo",
}

// writeCSV writes a part of a table, with its head if it is the first.
func writeCSV(w io.Writer, list []protocol.AuditEntry, first bool) error {
	var rows [][]string
	if first {
		rows = append(rows, columns)
	}
	for _, e := range list {
		exit, undo := "", ""
		if e.Undo {
			undo = "yes"
		}
		if e.ExitCode != nil {
			exit = strconv.Itoa(*e.ExitCode)
		}
		row := []string{
			strconv.FormatInt(e.Seq, 10), time.UnixMilli(e.At).UTC().Format(time.RFC3339), e.Kind, e.By, string(e.Node), string(e.SessionKey), string(e.RunID),
			string(e.CallID), e.Tool, e.What, e.Verdict, e.Why, e.Rule, string(e.Approval), e.State, exit, e.Hash, undo,
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
