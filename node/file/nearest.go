package file

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// maxNearest is the size of a text, in bytes, in which similar lines are searched for.
	maxNearest = 4 << 20
	// shownLines and shownLine limit the lines of a hint, and the characters of each.
	shownLines, shownLine = 4, 200
)

var (
	lineEnds       = strings.NewReplacer("\r\n", "\n", "\r", "\n")
	quotes         = strings.NewReplacer("‘", "'", "’", "'", "‚", "'", "‛", "'", "′", "'", "`", "'", "´", "'", "“", `"`, "”", `"`, "„", `"`, "‟", `"`, "″", `"`, "«", `"`, "»", `"`)
	dashes         = strings.NewReplacer("‐", "-", "‑", "-", "‒", "-", "–", "-", "—", "-", "―", "-", "−", "-")
	invisible      = strings.NewReplacer("\u00ad", "", "\u200b", "", "\u200c", "", "\u200d", "", "\u2060", "", "\ufeff", "")
	trailingBlanks = regexp.MustCompile(`[\t \p{Zs}]+(\n|$)`)
	blanks         = regexp.MustCompile(`[\t\v\f \p{Zs}]+`)
)

// folds remove the differences that people and models overlook. Each keeps the number of lines.
var folds = []struct {
	name  string
	apply func(string) string
}{
	{"line ends", lineEnds.Replace},
	{"quotes", quotes.Replace},
	{"dashes", dashes.Replace},
	{"invisible characters", invisible.Replace},
	{"trailing blanks", func(s string) string { return trailingBlanks.ReplaceAllString(s, "$1") }},
	{"blanks or tabs", func(s string) string { return blanks.ReplaceAllString(s, " ") }},
	{"composed characters", norm.NFC.String},
	{"upper and lower case", strings.ToLower},
}

// foldAll applies all folds except one; -1 leaves out no fold.
func foldAll(s string, except int) string {
	for i, f := range folds {
		if i != except {
			s = f.apply(s)
		}
	}
	return s
}

// nearest describes the lines of a text that are similar to what was not found in it, and what
// differs; empty if there are none.
func nearest(text, wanted string) string {
	if len(text) > maxNearest || !utf8.ValidString(text) || strings.TrimSpace(wanted) == "" {
		return ""
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	all, want := foldAll(text, -1), foldAll(wanted, -1)
	at := strings.Index(all, want)
	if at < 0 {
		i := mostSimilar(lines, wanted)
		if i < 0 {
			return ""
		}
		return fmt.Sprintf(". The most similar line is:\n%s", showLines(lines, i, 1))
	}
	var differ []string
	for i, f := range folds {
		if !strings.Contains(foldAll(text, i), foldAll(wanted, i)) {
			differ = append(differ, f.name)
		}
	}
	from := strings.Count(lineEnds.Replace(all[:at]), "\n")
	what := strings.Join(differ, ", ")
	if what == "" {
		what = "more than one kind of character"
	}
	return fmt.Sprintf(". This is similar, but differs in %s:\n%s", what, showLines(lines, from, 1+strings.Count(strings.TrimSuffix(want, "\n"), "\n")))
}

// showLines shows n lines with their numbers, which count from 1, quoted so that blanks are visible.
func showLines(lines []string, from, n int) string {
	var b strings.Builder
	for i := from; i < min(from+n, len(lines)); i++ {
		if i == from+shownLines {
			b.WriteString("…\n")
			break
		}
		line := lines[i]
		if r := []rune(line); len(r) > shownLine {
			line = string(r[:shownLine]) + "…"
		}
		fmt.Fprintf(&b, "line %d: %s\n", i+1, quoteLine(line))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// quoteLine quotes a line like Go does, with characters that look like others as their numbers.
func quoteLine(line string) string {
	var b strings.Builder
	for _, r := range line {
		switch s := string(r); {
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == ' ' || r < utf8.RuneSelf && r > ' ':
			b.WriteString(s)
		case blanks.MatchString(s), dashes.Replace(s) != s, invisible.Replace(s) != s, r < ' ':
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteString(s)
		}
	}
	return "|" + b.String() + "|"
}

// mostSimilar returns the index of the line that is most similar to the longest line of wanted; -1
// if none is similar.
func mostSimilar(lines []string, wanted string) int {
	longest := ""
	for line := range strings.Lines(foldAll(wanted, -1)) {
		if line = strings.TrimSpace(line); len(line) > len(longest) {
			longest = line
		}
	}
	pairs := pairsOf(longest)
	best, found := 0.6, -1
	for i, line := range lines {
		if len(line) > 4*len(longest)+40 || len(line) < len(longest)/2 {
			continue
		}
		other := pairsOf(strings.TrimSpace(foldAll(line, -1)))
		common := 0
		for p, n := range pairs {
			common += min(n, other[p])
		}
		if s := 2 * float64(common) / float64(max(1, size(pairs)+size(other))); s > best {
			best, found = s, i
		}
	}
	return found
}

// pairsOf counts the pairs of adjacent bytes.
func pairsOf(s string) map[string]int {
	m := make(map[string]int, len(s))
	for i := range max(0, len(s)-1) {
		m[s[i:i+2]]++
	}
	return m
}

func size(pairs map[string]int) (n int) {
	for _, k := range pairs {
		n += k
	}
	return n
}
