package operator

import (
	"encoding/json"
	"fmt"
	"strings"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

func report(messages []protocol.Message) string {
	args := make(map[string]arguments)
	var out, commands []string
	for _, m := range messages {
		for _, c := range m.Content.Calls() {
			var in arguments
			json.Unmarshal(c.Arguments, &in) // our own arguments
			args[c.ID] = in
		}
		if m.Role == protocol.RoleToolResult && m.Origin == protocol.OriginPerson {
			out = append(out, sentence(m, args[m.ToolCallID]))
			line, _, _ := strings.Cut(args[m.ToolCallID].Command, "\n")
			commands = append(commands, format.Clip(line, maxLine))
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

type outcome struct {
	ExitCode     *int    `json:"exitCode"`
	TimedOut     bool    `json:"timedOut"`
	Signal       string  `json:"signal"`
	Output       *string `json:"output"`
	Status       string  `json:"status"`
	Lines        *int    `json:"lines"`
	Count        *int    `json:"count"`
	Truncated    bool    `json:"truncated"`
	Bytes        *int    `json:"bytes"`
	Replacements *int    `json:"replacements"`
}

func sentence(m protocol.Message, in arguments) string {
	node, bare, _ := m.ToolName.Split()
	text := m.Content.Text()
	if m.Call != nil {
		switch m.Call.State {
		case protocol.CallDenied:
			return denial(m.Call)
		case protocol.CallCancelled:
			return "It was stopped."
		case protocol.CallUnknown:
			return text
		}
	}
	var r outcome
	json.Unmarshal([]byte(text), &r) // a long result is cut and no longer valid JSON
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
	if describe := descriptions[bare]; describe != nil {
		return describe(in, r)
	}
	return "Done."
}

func denial(c *protocol.CallInfo) string {
	switch why := c.Error; {
	case c.Unanswered():
		return "Nobody answered the question in time, so nothing was run."
	case why == "" || strings.HasPrefix(why, protocol.DeniedByPerson):
		return "You denied it, so nothing was done."
	default:
		return why
	}
}

type arguments struct{ Command, Path, Pattern string }

var descriptions = map[string]func(in arguments, r outcome) string{
	"Bash": func(_ arguments, r outcome) string { return commandSentence(r) },
	"Read": func(in arguments, r outcome) string {
		switch {
		case r.Lines == nil:
			return fmt.Sprintf("Here is %s.", code(in.Path))
		case *r.Lines == 0:
			return fmt.Sprintf("%s is empty.", code(in.Path))
		}
		return fmt.Sprintf("%s: %s.", code(in.Path), format.Plural(*r.Lines, "line"))
	},
	"Glob": func(in arguments, r outcome) string {
		more := ""
		switch {
		case r.Count == nil:
			return "Here is what matches."
		case *r.Count == 0:
			return fmt.Sprintf("Nothing matches %s.", code(in.Pattern))
		case r.Truncated:
			more = " (only the newest are shown)"
		}
		return fmt.Sprintf("%s %s %s%s.", format.Plural(*r.Count, "file"), match(*r.Count), code(in.Pattern), more)
	},
	"Grep": func(_ arguments, r outcome) string {
		switch {
		case r.Truncated:
			return "More than 100 lines match; the first 100 are shown."
		case r.Count == nil:
			return "Here is what matches."
		case *r.Count == 0:
			return "Nothing matched."
		}
		return fmt.Sprintf("%s %s.", format.Plural(*r.Count, "line"), match(*r.Count))
	},
	"Edit": func(in arguments, r outcome) string {
		if r.Replacements == nil {
			return "Done."
		}
		return fmt.Sprintf("Replaced %s in %s.", format.Plural(*r.Replacements, "place"), code(in.Path))
	},
	"Write": func(in arguments, r outcome) string {
		if r.Bytes == nil {
			return "Done."
		}
		return fmt.Sprintf("Wrote %s to %s.", format.Plural(*r.Bytes, "byte"), code(in.Path))
	},
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

// maxLine is the longest quotation of a request or a command, in characters.
const maxLine = 60

func match(n int) string {
	if n == 1 {
		return "matches"
	}
	return "match"
}

func completionText(c protocol.ExecCompletion) string {
	what := "A background command"
	if c.Command != "" {
		what = "The background command " + code(c.Command)
	}
	text := fmt.Sprintf("%s on %s %s.", what, c.NodeID, c.Outcome())
	if out := strings.TrimSpace(c.OutputTail); out != "" {
		text += " It printed last:\n\n" + format.Fence(out, "```")
	}
	return text
}
