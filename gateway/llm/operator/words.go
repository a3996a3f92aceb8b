package operator

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"fairlead/gateway/protocol"
)

// help says what can be asked.
func help(h hands) string {
	return `I am the built-in operator. I understand plain requests and carry them out on your machines; you see and allow everything that has an effect:

- *run make test* (or any command), *run df -h on MACHINE*
- *list the Go files*, *list files in docs*, *list \*.md*
- *read README.md*
- *search for func in gateway*, *find files named Makefile*
- *replace A with B in FILE*, *write TEXT to FILE*, *create FILE with TEXT*
- *which machines*

Several lines are several requests. A line that begins with \! is your own command and runs at once. For anything that needs thinking, connect a model in Settings.

` + machines(h)
}

func machines(h hands) string {
	switch len(h.nodes) {
	case 0:
		return "No machine is connected right now."
	case 1:
		return fmt.Sprintf("One machine is connected: **%s**.", h.nodes[0])
	}
	names := make([]string, len(h.nodes))
	for i, n := range h.nodes {
		names[i] = "**" + string(n) + "**"
	}
	return fmt.Sprintf("%d machines are connected: %s. A request that names none goes to **%s**.", len(names), strings.Join(names, ", "), h.first)
}

// notUnderstood names the three requests that are nearest to what was written.
func notUnderstood(g grammar, line string) string {
	type near struct{ score, at int }
	var list []near
	words := strings.Fields(strings.ToLower(line))
	for i, f := range g.forms {
		score := 0
		for _, w := range f.words {
			for _, have := range words {
				if have == w {
					score += 2
				} else if strings.HasPrefix(have, w) {
					score++
				}
			}
		}
		if f.words != nil {
			list = append(list, near{score, i})
		}
	}
	sort.SliceStable(list, func(a, b int) bool { return list[a].score > list[b].score })
	var b strings.Builder
	b.WriteString("I did not understand that. Until a model is connected I only understand plain requests, for example:\n\n")
	for _, n := range list[:3] {
		fmt.Fprintf(&b, "- *%s*\n", g.forms[n.at].example)
	}
	b.WriteString("\n*what can you do* lists them all. Connect a model in Settings to ask anything.")
	return b.String()
}

// report says how the calls of this turn ended, a sentence each.
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

// outcome is what the tools of a node return.
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
	_, bare, _ := m.ToolName.Split()
	var in struct{ Command, Path, Pattern string }
	json.Unmarshal(rawArgs, &in) // our own arguments
	text := m.Content.Text()
	if m.Call != nil {
		switch m.Call.State {
		case protocol.CallDenied:
			switch why := m.Call.Error; {
			case strings.HasPrefix(why, "Nobody answered"):
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
	parsed := json.Unmarshal([]byte(text), &r) == nil // a long result is shortened and no JSON any more
	if m.Call != nil && r.ExitCode == nil {
		r.ExitCode = m.Call.ExitCode
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
		return fmt.Sprintf("%s: %s.", code(in.Path), plural(*r.Lines, "line"))
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
		return fmt.Sprintf("%s %s %s%s.", plural(*r.Count, "file"), match(*r.Count), code(in.Pattern), more)
	case "Grep":
		switch {
		case r.Truncated:
			return "More than 100 lines match; the first 100 are shown."
		case r.Count != nil && *r.Count == 0:
			return "Nothing matched."
		case r.Count != nil:
			return fmt.Sprintf("%s %s.", plural(*r.Count, "line"), match(*r.Count))
		default:
			return "Here is what matches."
		}
	case "Edit":
		if r.Replacements != nil {
			return fmt.Sprintf("Replaced %s in %s.", plural(*r.Replacements, "place"), code(in.Path))
		}
	case "Write":
		if r.Bytes != nil {
			return fmt.Sprintf("Wrote %s to %s.", plural(*r.Bytes, "byte"), code(in.Path))
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

// command is the first line of the command that was run, or nothing.
func command(args json.RawMessage) string {
	var in struct{ Command string }
	if json.Unmarshal(args, &in) != nil {
		return ""
	}
	line, _, _ := strings.Cut(in.Command, "\n")
	return shorten(line)
}

func code(s string) string {
	if strings.Contains(s, "`") {
		return "`` " + s + " ``"
	}
	return "`" + s + "`"
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func match(n int) string {
	if n == 1 {
		return "matches"
	}
	return "match"
}

// unquote removes one pair of quotes around s.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	for _, q := range []string{`""`, "''", "``", "“”", "„“", "«»", "‘’"} {
		open, shut := string([]rune(q)[:1]), string([]rune(q)[1:])
		if len(s) > len(open)+len(shut)-1 && strings.HasPrefix(s, open) && strings.HasSuffix(s, shut) && !strings.Contains(s[len(open):len(s)-len(shut)], open) {
			return s[len(open) : len(s)-len(shut)]
		}
	}
	return s
}

// unquoteWhole removes backticks around a command, but leaves a shell's own quotes.
func unquoteWhole(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 2 && s[0] == '`' && s[len(s)-1] == '`' && !strings.Contains(s[1:len(s)-1], "`") {
		return s[1 : len(s)-1]
	}
	return s
}

// name is a file's name as written.
func name(s string) string { return unquote(strings.TrimSuffix(strings.TrimSpace(s), ",")) }

// ended tells of a background command that has ended.
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

// fenced is a code block that nothing in the text can end.
func fenced(s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "\n" + s + "\n" + fence
}
