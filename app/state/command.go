package state

import (
	"path"
	"strings"

	"fairlead/gateway/protocol"
)

// CommandSpan is a section of a command's text. The gateway marked the risky ones.
type CommandSpan struct {
	Text  string
	Risky bool
}

// CommandPart describes one part of a command in an approval, on a line below it.
type CommandPart struct {
	Text   string // the part's text in the command, in one line
	Path   string // the program's path, if it says more than its name
	Reason string // why it needs an approval
	Risky  bool
}

// isRisky reports whether a part has a risk beyond not being allowed by a rule.
func isRisky(p protocol.ApprovalPart) bool {
	return p.Floor || p.Kind == "finding" || p.Verdict == "deny"
}

// CommandSpans splits a command where risky parts begin and end.
func CommandSpans(q protocol.Approval) []CommandSpan {
	text := QuestionText(q)
	marked := make([]bool, len(text))
	// position from which to search for the next part with the same text
	next := make(map[string]int)
	for _, p := range q.Parts {
		if !isRisky(p) || strings.TrimSpace(p.Text) == "" {
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

// CommandParts returns the parts to explain: the risky ones first, then the programs, each once.
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
		out := CommandPart{Text: text, Reason: p.Reason, Risky: isRisky(p)}
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
