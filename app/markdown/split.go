package markdown

import (
	"regexp"
	"slices"
	"strings"
)

// BlockKind is the kind of a block of Markdown.
type BlockKind int

const (
	BlockText  BlockKind = iota // Markdown without fenced code and tables
	BlockCode                   // Source is the code, without its fence
	BlockTable                  // Source has the lines of the table
)

// Block is a part of a Markdown text that can be displayed by itself.
type Block struct {
	Kind   BlockKind
	Source string
	Lang   string // of code
	Open   bool   // the text ends within it: a fence that is not closed yet
}

var (
	fenceLine = regexp.MustCompile("^(\\s*)(`{3,}|~{3,})\\s*([^`]*)$")
	listItem  = regexp.MustCompile(`^\s*([-*+]|\d{1,9}[.)])\s`)
	tableRule = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$`)
)

// Split splits Markdown into blocks. All blocks but the last stay the same when text is
// appended, so a growing text requires parsing of its last block only. It removes a fence around
// the whole text, which some models write.
func Split(text string) []Block {
	text = removeOuterFence(strings.ReplaceAll(text, "\r\n", "\n"))
	lines := strings.Split(text, "\n")
	var blocks []Block
	var cur []string
	flush := func() {
		for len(cur) > 0 && strings.TrimSpace(cur[len(cur)-1]) == "" {
			cur = cur[:len(cur)-1]
		}
		if len(cur) > 0 {
			blocks = append(blocks, Block{Kind: BlockText, Source: strings.Join(cur, "\n")})
		}
		cur = nil
	}
	inList := func() bool { return len(cur) > 0 && listItem.MatchString(cur[0]) }
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if m := fenceLine.FindStringSubmatch(line); m != nil {
			flush()
			end := i + 1
			for end < len(lines) && !closesFence(lines[end], m[2]) {
				end++
			}
			code := make([]string, 0, end-i)
			for _, l := range lines[i+1 : end] {
				code = append(code, dedent(l, len(m[1])))
			}
			lang, _, _ := strings.Cut(strings.TrimSpace(m[3]), " ")
			blocks = append(blocks, Block{Kind: BlockCode, Source: strings.Join(code, "\n"), Lang: lang, Open: end == len(lines)})
			i = end
			continue
		}
		if strings.Contains(line, "|") && i+1 < len(lines) && strings.Contains(lines[i+1], "-") && strings.Contains(lines[i+1], "|") &&
			tableRule.MatchString(lines[i+1]) {
			flush()
			end := i + 2
			for end < len(lines) && strings.Contains(lines[end], "|") {
				end++
			}
			blocks = append(blocks, Block{Kind: BlockTable, Source: strings.Join(lines[i:end], "\n")})
			i = end - 1
			continue
		}
		if strings.TrimSpace(line) == "" {
			if len(cur) == 0 {
				continue
			}
			next := slices.IndexFunc(lines[i:], func(l string) bool { return strings.TrimSpace(l) != "" })
			if next > 0 && inList() && (listItem.MatchString(lines[i+next]) || strings.HasPrefix(lines[i+next], "  ")) {
				cur = append(cur, line)
				continue
			}
			flush()
			continue
		}
		cur = append(cur, line)
	}
	flush()
	return blocks
}

func closesFence(line, open string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(open) && strings.Trim(line, open[:1]) == ""
}

// dedent removes up to n blanks at the beginning of a line.
func dedent(line string, n int) string {
	n = min(n, len(line))
	return strings.TrimLeft(line[:n], " \t") + line[n:]
}

// removeOuterFence removes one ```markdown fence around the whole text.
func removeOuterFence(text string) string {
	first, rest, ok := strings.Cut(strings.TrimSpace(text), "\n")
	if !ok {
		return text
	}
	m := fenceLine.FindStringSubmatch(first)
	if m == nil {
		return text
	}
	if lang := strings.ToLower(strings.TrimSpace(m[3])); lang != "markdown" && lang != "md" {
		return text
	}
	depth, lines := 0, strings.Split(rest, "\n")
	// the outer fence ends at the first bare fence that does not close an inner one
	for i, l := range lines {
		f := fenceLine.FindStringSubmatch(l)
		switch {
		case f == nil:
		case strings.TrimSpace(f[3]) != "":
			depth++
		case depth > 0:
			depth--
		case i == len(lines)-1:
			return strings.Join(lines[:i], "\n")
		default:
			return text
		}
	}
	return rest // not closed yet
}

// parseTable parses a table's lines. Every row gets as many cells as the header.
func parseTable(source string) (cells [][]string, align []int) {
	lines := strings.Split(source, "\n")
	header := tableCells(lines[0])
	for _, c := range tableCells(lines[1]) {
		a := 0
		if strings.HasSuffix(c, ":") {
			a = 2
			if strings.HasPrefix(c, ":") {
				a = 1
			}
		}
		align = append(align, a)
	}
	cells = append(cells, header)
	for _, l := range lines[2:] {
		row := append(tableCells(l), make([]string, len(header))...)
		cells = append(cells, row[:len(header)])
	}
	return cells, append(align, make([]int, len(header))...)[:len(header)]
}

func tableCells(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	if strings.HasSuffix(line, "|") && !strings.HasSuffix(line, `\|`) {
		line = line[:len(line)-1]
	}
	var cells []string
	var cur strings.Builder
	code := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && i+1 < len(line) && line[i+1] == '|':
			cur.WriteByte('|')
			i++
		case c == '`':
			code = !code
			cur.WriteByte(c)
		case c == '|' && !code:
			cells = append(cells, strings.TrimSpace(cur.String()))
			cur.Reset()
		default:
			cur.WriteByte(c)
		}
	}
	return append(cells, strings.TrimSpace(cur.String()))
}

// SplitParts splits a long text into parts of at least size bytes that can be displayed
// separately: between blocks and never in a fence. All parts but the last stay the same when text
// is appended.
func SplitParts(text string, size int) []string {
	if len(text) <= size {
		return []string{text}
	}
	var parts []string
	start, open := 0, ""
	for at := 0; at < len(text); {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			break
		}
		line := text[at : at+end]
		at += end + 1
		switch m := fenceLine.FindStringSubmatch(line); {
		case open != "" && closesFence(line, open):
			open = ""
		case open == "" && m != nil:
			open = m[2]
		}
		if open == "" && strings.TrimSpace(line) == "" && at-start >= size && at < len(text) &&
			!strings.HasPrefix(text[at:], " ") && !listItem.MatchString(text[at:]) && text[at] != '\n' {
			parts = append(parts, text[start:at])
			start = at
		}
	}
	return append(parts, text[start:])
}

// SplitPlain splits a long plain text into parts of at least size bytes at ends of lines.
func SplitPlain(text string, size int) []string {
	var parts []string
	for len(text) > size {
		end := strings.IndexByte(text[size:], '\n')
		if end < 0 {
			break
		}
		parts = append(parts, text[:size+end])
		text = text[size+end+1:]
	}
	return append(parts, text)
}
