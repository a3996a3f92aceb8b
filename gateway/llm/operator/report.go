package operator

import (
	"encoding/json"
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
)

// report describes the outcomes of this turn's calls, a sentence each.
func report(messages []protocol.Message) string {
	args := make(map[string]json.RawMessage)
	var out, commands []string
	for _, m := range messages {
		for _, c := range m.Content.Calls() {
			args[c.ID] = c.Arguments
		}
		if m.Role == protocol.RoleToolResult && m.Origin == protocol.OriginPerson {
			out = append(out, sentence(m, args[m.ToolCallID]))
			commands = append(commands, command(args[m.ToolCallID]))
		}
	}
	if len(out) == 1 {
		return out[0]
	}
	for i, c := range commands {
		if c != "" {
			out[i] = code(c) + ": " + out[i]
		}
	}
	return "- " + strings.Join(out, "\n- ")
}

// outcome is the result of a node's tool.
type outcome struct {
	ExitCode     *int            `json:"exitCode"`
	TimedOut     bool            `json:"timedOut"`
	Signal       string          `json:"signal"`
	Output       *string         `json:"output"`
	Status       string          `json:"status"`
	Lines        *int            `json:"lines"`
	Count        *int            `json:"count"`
	Truncated    bool            `json:"truncated"`
	Bytes        *int            `json:"bytes"`
	Replacements *int            `json:"replacements"`
	Matches      json.RawMessage `json:"matches"`
}

func sentence(m protocol.Message, rawArgs json.RawMessage) string {
	node, bare, _ := m.ToolName.Split()
	var in struct{ Command, Path, Pattern string }
	json.Unmarshal(rawArgs, &in) // our own arguments
	text := m.Content.Text()
	if m.Call != nil {
		switch m.Call.State {
		case protocol.CallDenied:
			switch why := m.Call.Error; {
			case m.Call.Unanswered():
				return "Nobody answered the question in time, so nothing was run."
			case why == "" || strings.HasPrefix(why, "The person denied"):
				return "You denied it, so nothing was done."
			default:
				return why
			}
		case protocol.CallCancelled:
			return "It was stopped."
		case protocol.CallUnknown:
			return text
		}
	}
	var r outcome
	// a long result is cut and no longer valid JSON
	parsed := json.Unmarshal([]byte(text), &r) == nil
	if m.Call != nil && r.ExitCode == nil {
		r.ExitCode = m.Call.ExitCode
	}
	var native protocol.NativeResult
	if node == protocol.NativePrefix && json.Unmarshal([]byte(text), &native) == nil && native.Error != "" {
		return "That did not work: " + native.Error
	}
	if m.IsError && r.ExitCode == nil {
		return "That did not work: " + strings.TrimPrefix(text, "Error: ")
	}
	switch bare {
	case "Bash":
		return commandSentence(r)
	case "Read":
		if !parsed || r.Lines == nil {
			return fmt.Sprintf("Here is %s.", code(in.Path))
		}
		if *r.Lines == 0 {
			return fmt.Sprintf("%s is empty.", code(in.Path))
		}
		return fmt.Sprintf("%s: %s.", code(in.Path), protocol.Plural(*r.Lines, "line"))
	case "Glob":
		if r.Count == nil {
			return "Here is what matches."
		}
		if *r.Count == 0 {
			return fmt.Sprintf("Nothing matches %s.", code(in.Pattern))
		}
		more := ""
		if r.Truncated {
			more = " (only the newest are shown)"
		}
		return fmt.Sprintf("%s %s %s%s.", protocol.Plural(*r.Count, "file"), match(*r.Count), code(in.Pattern), more)
	case "Grep":
		switch {
		case r.Truncated:
			return "More than 100 lines match; the first 100 are shown."
		case r.Count != nil && *r.Count == 0:
			return "Nothing matched."
		case r.Count != nil:
			return fmt.Sprintf("%s %s.", protocol.Plural(*r.Count, "line"), match(*r.Count))
		default:
			return "Here is what matches."
		}
	case "Edit":
		if r.Replacements != nil {
			return fmt.Sprintf("Replaced %s in %s.", protocol.Plural(*r.Replacements, "place"), code(in.Path))
		}
	case "Write":
		if r.Bytes != nil {
			return fmt.Sprintf("Wrote %s to %s.", protocol.Plural(*r.Bytes, "byte"), code(in.Path))
		}
	}
	return "Done."
}

func commandSentence(r outcome) string {
	if r.Status == "running" {
		return "It runs in the background now."
	}
	quiet := ""
	if r.Output != nil && strings.TrimSpace(*r.Output) == "" {
		quiet = " It printed nothing."
	}
	switch {
	case r.TimedOut:
		return "It took too long and was stopped." + quiet
	case r.Signal != "":
		return "It was ended by the signal " + r.Signal + "." + quiet
	case r.ExitCode == nil:
		return "It ended." + quiet
	case *r.ExitCode == 0:
		return "Done." + quiet
	}
	return fmt.Sprintf("It ended with exit code %d.%s", *r.ExitCode, quiet)
}

// command returns the first line of the executed command, or nothing.
func command(args json.RawMessage) string {
	var in struct{ Command string }
	if json.Unmarshal(args, &in) != nil {
		return ""
	}
	line, _, _ := strings.Cut(in.Command, "\n")
	return shorten(line)
}

func match(n int) string {
	if n == 1 {
		return "matches"
	}
	return "match"
}

// ended reports a background command that has ended.
func ended(c protocol.ExecCompletion) string {
	what := "A background command"
	if c.Command != "" {
		what = "The background command " + code(c.Command)
	}
	text := fmt.Sprintf("%s on %s %s.", what, c.NodeID, c.Outcome())
	if out := strings.TrimSpace(c.OutputTail); out != "" {
		text += " It printed last:\n\n" + fenced(out)
	}
	return text
}

// fenced returns a code block with a fence that the text cannot end.
func fenced(s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "\n" + s + "\n" + fence
}
