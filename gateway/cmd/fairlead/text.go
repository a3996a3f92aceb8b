package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"fairlead/gateway/protocol"
)

// clean makes text from elsewhere safe to print: control, bidirectional and zero-width characters
// are shown, not obeyed. It is for text on which a person decides; text that is only read passes
// the [joinFilter] of the output.
func clean(s string) string { return strings.Map(cleanRune, s) }

// cleanRune returns the character to print for r, or -1 for none.
func cleanRune(r rune) rune {
	switch {
	case r == '\r':
		return -1
	case unsafeToPrint(r):
		return '\uFFFD'
	}
	return r
}

// unsafeToPrint reports whether a terminal may obey r or show nothing for it: control,
// bidirectional and zero-width characters.
func unsafeToPrint(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// flat is [clean] for text that must stay on its line, or in its column of a table.
func flat(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return '\uFFFD'
		}
		return r
	}, clean(s))
}

func indent(s string, mid bool) string {
	out := strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n  ")
	if !mid {
		out = "  " + out
	}
	if strings.HasSuffix(s, "\n") {
		out += "\n"
	}
	return out
}

// firstLines returns the first n lines and says how many are omitted.
func firstLines(s string, n int) string {
	all := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if len(all) <= n {
		return s
	}
	return strings.Join(all[:n], "\n") + fmt.Sprintf("\n… %d more lines", len(all)-n)
}

// maxUnseen is the maximum number of characters of a command's output that are printed when it
// ends: the same as the live output shows at once.
const maxUnseen = 4000

// unseenOutput returns the output of a command after the shown bytes; tail is its last part. all is
// the output in the result, whose beginning may be cut off.
func unseenOutput(all, tail string, shown int64) string {
	rest := all
	if int64(len(tail)) >= shown && strings.HasPrefix(all, tail) {
		rest = all[len(tail):]
	} else if i := strings.LastIndex(all, tail); i >= 0 {
		rest = all[i+len(tail):]
	}
	if n := utf8.RuneCountInString(rest); n > maxUnseen {
		return "…" + string([]rune(rest)[n-maxUnseen:])
	}
	return rest
}

func setEntry[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[k] = v
}

// toolOutput has the parts of a tool's result that a person wants to read.
type toolOutput struct {
	Output   *string         `json:"output"`
	Content  any             `json:"content"`
	Matches  json.RawMessage `json:"matches"`
	ExitCode *int            `json:"exitCode"`
	Note     string          `json:"note"`
}

// text returns the output of a command or the text of a file; ok is false if there is neither.
func (o toolOutput) text() (text string, ok bool) {
	if o.Output != nil {
		return *o.Output, true
	}
	text, ok = o.Content.(string)
	return text, ok
}

// resultText returns the part of a tool's result that a person wants to read.
func resultText(m protocol.Message) string {
	raw := m.Content.ResultText()
	var r toolOutput
	if json.Unmarshal([]byte(raw), &r) != nil {
		return raw
	}
	if text, ok := r.text(); ok {
		return text
	}
	return matchesText(r.Matches)
}

func matchesText(raw json.RawMessage) string {
	var paths []string
	if json.Unmarshal(raw, &paths) == nil {
		return strings.Join(paths, "\n")
	}
	var hits []struct {
		Path, Content string
		Line          int
	}
	if json.Unmarshal(raw, &hits) != nil {
		return ""
	}
	var b strings.Builder
	for _, h := range hits {
		fmt.Fprintf(&b, "%s:%d: %s\n", h.Path, h.Line, h.Content)
	}
	return b.String()
}
