package state

import (
	"path"
	"strings"

	"fairlead/gateway/protocol"
)

// CommandSpan is a run of a command's text. Risky spans are what the gateway found worth a second look.
type CommandSpan struct {
	Text  string
	Risky bool
}

// CommandPart is what a question says of one part of its command, for a line below it.
type CommandPart struct {
	Text   string // the part as it stands in the command, in one line
	Path   string // where its program is, when that says more than its name
	Reason string // why it is asked about
	Risky  bool
}

// risky reports whether a part is more than merely not allowed by a rule.
func risky(p protocol.ApprovalPart) bool {
	return p.Floor || p.Kind == "finding" || p.Verdict == "deny"
}

// CommandSpans cuts a command where risky parts begin and end. Together the spans are the command.
func CommandSpans(q protocol.Approval) []CommandSpan {
	text := QuestionText(q)
	marked := make([]bool, len(text))
	next := make(map[string]int) // where to look for the next part with the same text
	for _, p := range q.Parts {
		if !risky(p) || strings.TrimSpace(p.Text) == "" {
			continue
		}
		at := strings.Index(text[next[p.Text]:], p.Text)
		if at < 0 {
			continue
		}
		at += next[p.Text]
		next[p.Text] = at + len(p.Text)
		for i := at; i < at+len(p.Text); i++ {
			marked[i] = true
		}
	}
	var spans []CommandSpan
	for i := 0; i < len(text); {
		end := i + 1
		for end < len(text) && marked[end] == marked[i] {
			end++
		}
		spans = append(spans, CommandSpan{text[i:end], marked[i]})
		i = end
	}
	return spans
}

// CommandParts are the parts that need saying: the risky ones first, then the programs, each once.
func CommandParts(q protocol.Approval) []CommandPart {
	where := make(map[string]string)
	if q.Preview != nil {
		for _, p := range q.Preview.Programs {
			if p.Path != "" && path.Base(p.Path) != p.Path {
				where[p.Name] = p.Path
			}
		}
	}
	var first, rest []CommandPart
	seen := make(map[string]bool)
	for _, p := range q.Parts {
		text, _, _ := strings.Cut(strings.TrimSpace(p.Text), "\n")
		out := CommandPart{Text: text, Reason: p.Reason, Risky: risky(p)}
		if len(p.Argv) > 0 {
			out.Path = where[p.Argv[0]]
		}
		key := text + "\x00" + p.Reason
		if seen[key] || !out.Risky && p.Verdict == "allow" && out.Path == "" {
			continue
		}
		seen[key] = true
		if out.Risky {
			first = append(first, out)
		} else {
			rest = append(rest, out)
		}
	}
	if len(q.Parts) == 0 && q.Preview != nil {
		for _, p := range q.Preview.Programs {
			if where[p.Name] != "" {
				rest = append(rest, CommandPart{Text: p.Name, Path: p.Path})
			}
		}
	}
	return append(first, rest...)
}
