package operator

import (
	"regexp"
	"strings"
)

// envelope matches the prefix that the gateway adds to a message from a chat network, and a
// quotation below it.
var envelope = regexp.MustCompile(`^\[[a-z0-9_-]+ · [^\]\n]*\](?:[ \n]\[in reply to: [^\]\n]*\])?[ \n]?`)

// item is one request: a line, and the code block under it.
type item struct {
	line  string
	block string
	fence bool
}

// requests splits a message. A code block belongs to the line above it. A first line in brackets
// with more below it is not a request: in it the gateway gives the reason for its message, such as
// a job's name and time. The same applies to the prefix of a message from a chat network.
func requests(text string) []item {
	var out []item
	text = envelope.ReplaceAllString(text, "")
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if first := strings.TrimSpace(lines[0]); len(lines) > 1 && strings.HasPrefix(first, "[") && strings.HasSuffix(first, "]") {
		lines = lines[1:]
	}
	for i := 0; i < len(lines); i++ {
		line, mark := fence(strings.TrimSpace(lines[i]))
		if line != "" {
			out = append(out, item{line: unlist(line)})
		}
		if mark == "" {
			continue
		}
		var block []string
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != mark; i++ {
			block = append(block, lines[i])
		}
		if len(out) == 0 || out[len(out)-1].fence {
			out = append(out, item{})
		}
		last := &out[len(out)-1]
		last.fence, last.block = true, strings.Join(block, "\n")
	}
	if len(out) == 0 {
		out = []item{{}}
	}
	return out
}

// fence returns the text of a line before a code block, and the mark that ends the block.
func fence(line string) (before, mark string) {
	i := strings.Index(line, "```")
	if i < 0 || strings.Contains(line[i+3:], "`") || strings.ContainsAny(strings.TrimSpace(line[i+3:]), " \t") {
		return line, ""
	}
	return strings.TrimSpace(line[:i]), "```"
}

// unlist removes the mark of a list item.
func unlist(line string) string {
	for _, mark := range []string{"- ", "* ", "• "} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return strings.TrimSpace(rest)
		}
	}
	rest := strings.TrimLeft(line, "0123456789")
	if n := len(line) - len(rest); n > 0 && n <= 2 && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")) {
		return strings.TrimSpace(rest[2:])
	}
	return line
}
