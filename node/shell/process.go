package shell

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

const (
	defaultLogLines = 200
	// writeLimit is how long a write waits for a command that does not read its input.
	writeLimit = 10 * time.Second
	// maxListBytes is the maximum size of the result of list, in bytes: the gateway accepts a
	// result of one frame.
	maxListBytes = 8 << 20
)

type processIn struct {
	Action    string   `json:"action" jsonschema:"one of list, poll, log, write, submit, kill, resize"`
	SessionID string   `json:"sessionId,omitempty" jsonschema:"the sessionId that Bash returned; required by every action except list"`
	Data      string   `json:"data,omitempty" jsonschema:"text that write and submit send to the command's input"`
	Offset    *float64 `json:"offset,omitempty" jsonschema:"first line for log, from 0; default 0"`
	Limit     *float64 `json:"limit,omitempty" jsonschema:"maximum number of lines for log; default 200"`
	Cols      *float64 `json:"cols,omitempty" jsonschema:"for resize: columns of the terminal"`
	Rows      *float64 `json:"rows,omitempty" jsonschema:"for resize: rows of the terminal"`
}

//go:embed process.md
var processDoc string

func processTool(jobs *Jobs) toolkit.Tool[access.Call] {
	t := toolkit.Define("Process", processDoc, toolkit.Traits{Effect: protocol.EffectExec, Caps: []string{protocol.CapExec}},
		func(_ context.Context, call access.Call, in processIn) (any, error) {
			return runProcess(jobs, call.Caller, in)
		})
	return toolkit.WithPreview(t, func(_ context.Context, _ access.Call, in processIn) (p protocol.CallPreview, _ error) {
		j := jobs.get(in.SessionID)
		if action := in.action(); j != nil && j.isRunning() && (action == "write" || action == "submit") {
			return previewInput(j, in.input(j.tty)), nil
		}
		return p, nil
	})
}

// failure reports a failed action as a result, as GSV does.
func failure(format string, args ...any) any {
	return map[string]any{"status": "failed", "error": toolkit.Failf(format, args...).Error()}
}

func runProcess(jobs *Jobs, caller *protocol.ToolCaller, in processIn) (any, error) {
	action := in.action()
	if action == "list" {
		return listJobs(jobs, caller), nil
	}
	if !slices.Contains([]string{"poll", "log", "write", "submit", "kill", "resize"}, action) {
		return failure("Unknown action %s", in.Action), nil
	}
	if in.SessionID == "" {
		return nil, toolkit.Failf("sessionId is required for this action")
	}
	j := jobs.get(in.SessionID)
	switch {
	case j == nil:
		return failure("No session found for %s", in.SessionID), nil
	case !j.background.Load() && !j.isOfProgram():
		return failure("Session %s is not backgrounded", in.SessionID), nil
	case !j.isVisibleTo(caller):
		return failure("No session found for %s", in.SessionID), nil
	case j.isOfProgram() && slices.Contains([]string{"write", "submit", "resize"}, action):
		return failure("Session %s belongs to %s: only kill, poll and log are possible", j.id, j.callerName()), nil
	}
	switch action {
	case "poll":
		return j.addRead(map[string]any{"status": j.status(), "sessionId": j.id, "tail": j.out.tail(), "running": j.isRunning()}), nil
	case "log":
		return logJob(j, in)
	case "resize":
		return resizeJob(j, in)
	case "kill":
		if !j.isRunning() {
			return failure("Session %s has already exited", j.id), nil
		}
		j.requestStop(byKill)
		return map[string]any{"status": "running", "sessionId": j.id, "message": "SIGKILL was sent to the command and everything it started."}, nil
	}
	return writeJob(j, in.input(j.tty))
}

func (in processIn) action() string { return strings.ToLower(strings.TrimSpace(in.Action)) }

// input returns the bytes that write and submit send.
func (in processIn) input(tty bool) string {
	switch {
	case in.action() != "submit":
		return in.Data
	case tty:
		return in.Data + "\r" // the Enter key: a program that reads keys from a terminal knows only that one
	}
	return in.Data + "\n"
}

func (j *job) status() string {
	switch {
	case j.isRunning():
		return "running"
	case j.result.hasSucceeded():
		return "completed"
	case j.result.reason == byTimeout:
		return "timed_out"
	}
	return "failed"
}

// addOutcome adds exitCode, signal, timedOut and notes about the end.
func (j *job) addOutcome(m map[string]any) map[string]any {
	m["exitCode"], m["signal"], m["timedOut"] = nil, nil, false
	if !j.isRunning() {
		if j.result.code != nil {
			m["exitCode"] = *j.result.code
		}
		if j.result.signal != "" {
			m["signal"] = j.result.signal
		}
		m["timedOut"] = j.result.reason == byTimeout
	}
	if note := j.remarks(); note != "" {
		m["note"] = note
	}
	return m
}

// addRead adds the outcome, and what a person did in the command's terminal since the last read.
func (j *job) addRead(m map[string]any) map[string]any {
	m = j.addOutcome(m)
	if note := j.person.note(); note != "" {
		before, _ := m["note"].(string)
		m["note"] = strings.TrimSpace(before + " " + note)
	}
	return m
}

// callerName names the program that started a command.
func (j *job) callerName() string {
	if j.caller == nil {
		return "another program"
	}
	return "the app " + j.caller.Name
}

func listJobs(jobs *Jobs, caller *protocol.ToolCaller) any {
	list := []map[string]any{}
	var text strings.Builder
	all, size := jobs.list(caller), 0
	for _, j := range all {
		m := j.addOutcome(map[string]any{
			"sessionId": j.id, "status": j.status(), "pid": j.pid, "startedAt": j.started.UnixMilli(), "endedAt": nil,
			"runtimeMs": time.Since(j.started).Milliseconds(), "workdir": workspace.Spell(j.dir), "command": j.command, "tail": j.out.tail(),
			"truncated": j.out.snapshot().truncated, "pty": j.tty,
		})
		if j.isRunning() {
			m["processes"] = append([]int{}, j.child.Processes()...)
		} else {
			m["endedAt"], m["runtimeMs"] = j.endedAt()
		}
		line := j.id + "  " + j.status() + "  " + j.command
		if j.caller != nil {
			m["app"] = j.caller.Name
			line += "  (" + j.callerName() + ")"
		}
		line += "\n"
		if size += encodedSize(m) + encodedSize(line); size > maxListBytes {
			break
		}
		list = append(list, m)
		text.WriteString(line)
	}
	if len(all) == 0 {
		text.WriteString("No background commands.")
	}
	out := map[string]any{"status": "completed", "sessions": list}
	if rest := len(all) - len(list); rest > 0 {
		out["omitted"] = rest
		fmt.Fprintf(&text, "The list is too long: %d older commands are left out. poll and log still accept their sessionId.", rest)
	}
	out["text"] = strings.TrimSuffix(text.String(), "\n")
	return out
}

func encodedSize(v any) int {
	raw, _ := protocol.Marshal(v) // maps of strings and numbers can always be encoded
	return len(raw)
}

func logJob(j *job, in processIn) (any, error) {
	offset, err := toolkit.WholeNumber("offset", in.Offset, 0)
	if err != nil {
		return nil, err
	}
	limit, err := toolkit.WholeNumber("limit", in.Limit, defaultLogLines)
	if err != nil {
		return nil, err
	}
	status := j.status() // read before the output, so that a reported end comes with all output
	v := j.out.snapshot()
	var lines []string
	if v.text != "" {
		lines = strings.Split(strings.TrimSuffix(v.text, "\n"), "\n")
	}
	// Line numbers stay the same when the first lines are lost.
	from := min(max(offset, v.first), v.lines)
	to := min(from+max(limit, 1), v.lines)
	m := j.addRead(map[string]any{
		"status": status, "sessionId": j.id, "log": strings.Join(lines[from-v.first:to-v.first], "\n"), "offset": from,
		"totalLines": v.lines, "totalChars": utf8.RuneCountInString(v.text), "totalBytes": v.bytes, "truncated": v.truncated,
	})
	if v.first > 0 {
		m["firstLine"] = v.first
	}
	if v.text == "" {
		m["log"] = "(no output yet)"
		if status != "running" {
			m["log"] = "(no output)"
		}
	}
	return m, nil
}

func resizeJob(j *job, in processIn) (any, error) {
	cols, err := dimension("cols", in.Cols)
	if err != nil {
		return nil, err
	}
	rows, err := dimension("rows", in.Rows)
	if err != nil {
		return nil, err
	}
	switch {
	case !j.tty:
		return failure("Session %s has no terminal; start it with pty", j.id), nil
	case !j.isRunning():
		return failure("Session %s has already exited", j.id), nil
	}
	if err := j.resize(cols, rows); err != nil {
		return nil, toolkit.Failf("Failed to resize %s: %w", j.id, format.WithoutPath(err))
	}
	return map[string]any{"status": "running", "sessionId": j.id, "cols": cols, "rows": rows}, nil
}

// dimension reads a dimension of a terminal, which is required.
func dimension(name string, v *float64) (int, error) {
	n, err := toolkit.WholeNumber(name, v, 0)
	if err == nil && (n < 1 || n > maxDimension) {
		err = &toolkit.InputError{Err: toolkit.Failf("resize needs %s from 1 to %d", name, maxDimension)}
	}
	return int(n), err
}

func writeJob(j *job, data string) (any, error) {
	if !j.isRunning() {
		return failure("Session %s has already exited", j.id), nil
	}
	if j.stdin == nil {
		return failure("Session %s stdin is not writable", j.id), nil
	}
	if j.person.types.Load() {
		return failure(personTypes), nil
	}
	n, err := j.write(data)
	switch {
	case errors.Is(err, os.ErrClosed):
		return failure("Session %s has already exited", j.id), nil
	case errors.Is(err, syscall.EPIPE):
		return failure("Session %s stdin is not writable", j.id), nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, toolkit.Failf("Failed to write to %s: the command does not read its input (%d of %d bytes accepted)", j.id, n, len(data))
	case err != nil:
		return nil, toolkit.Failf("Failed to write to %s: %w", j.id, format.WithoutPath(err))
	}
	return map[string]any{"status": "running", "sessionId": j.id, "bytesWritten": n}, nil
}
