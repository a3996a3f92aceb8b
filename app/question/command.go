package question

import (
	"path"
	"slices"
	"strings"

	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// CommandSpan is a section of a command's text. The gateway marked the risky ones.
type CommandSpan struct {
	Text  string
	Risky bool
}

// CommandPart describes one part of a command in an approval, on a line below it.
type CommandPart struct {
	Program string // its program with those that it starts, such as "/usr/bin/sudo → systemctl"
	Risk    string // why it is dangerous, in plain words
	Stopped string // what the sandbox will stop
	// Network and Folders are the grants with which the sandbox does not stop it, see [AsksNetwork] and
	// [FolderOffers].
	Network bool
	Folders []int
}

// CommandSpans splits a command where risky parts begin and end.
func CommandSpans(q protocol.Question) []CommandSpan {
	text := display.Subject(q)
	marked := make([]bool, len(text))
	// position from which to search for the next part with the same text
	next := make(map[string]int)
	for _, p := range q.Parts {
		if display.Risk(p) == "" || strings.TrimSpace(p.Text) == "" {
			continue
		}
		from, to := p.From, p.To
		if to <= from || to > len(text) || text[from:to] != p.Text {
			at := strings.Index(text[next[p.Text]:], p.Text)
			if at < 0 {
				continue
			}
			from = at + next[p.Text]
			to = from + len(p.Text)
			next[p.Text] = to
		}
		for i := from; i < to; i++ {
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

// CommandParts returns the parts to explain, each once: the risky ones and those that the sandbox
// will stop, then the paths of programs.
func CommandParts(q protocol.Question) []CommandPart {
	var list []CommandPart
	where := programPaths(q)
	seen := make(map[string]bool)
	for _, p := range q.Parts {
		out := CommandPart{Program: display.Program(p), Risk: display.Risk(p), Stopped: display.Stopped(p, q), Network: p.NoNetwork, Folders: p.Folders}
		isPlain := out.Risk == "" && out.Stopped == ""
		program := ""
		if len(p.Argv) > 0 {
			program = where[p.Argv[0]]
			if rest, ok := strings.CutPrefix(out.Program, path.Base(wording.Slashes(p.Argv[0]))); ok && program != "" {
				out.Program = program + rest
			}
		}
		key := out.Program + "\x00" + out.Risk + "\x00" + out.Stopped
		if seen[key] || isPlain && (p.Started || program == "") {
			continue
		}
		seen[key] = true
		list = append(list, out)
	}
	if len(q.Parts) == 0 && q.Preview != nil {
		for _, p := range q.Preview.Programs {
			if where[p.Name] != "" {
				list = append(list, CommandPart{Program: p.Path})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b CommandPart) int {
		return lists.TrueFirst(a.Risk+a.Stopped != "", b.Risk+b.Stopped != "")
	})
	return list
}

// programPaths returns the paths of a command's programs that say more than their names.
func programPaths(q protocol.Question) map[string]string {
	paths := make(map[string]string)
	if q.Preview == nil {
		return paths
	}
	for _, p := range q.Preview.Programs {
		if p.Path != "" && path.Base(wording.Slashes(p.Path)) != p.Path {
			paths[p.Name] = p.Path
		}
	}
	return paths
}
