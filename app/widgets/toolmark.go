package widgets

import (
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
)

// Texts returns a card's texts in reading order: its line, the input, the output.
// [ToolCard.Passages] shows all of them when expanded, and the first when collapsed. It may be
// called on any goroutine.
func (t Tool) Texts() [3]string {
	in := cleanOutput(t.Input)
	if t.Diff != "" {
		in = PlainText(DiffLines(t.Diff))
	}
	return [3]string{cleanOutput(t.Argument), in, cleanOutput(t.Output)}
}

// Searched returns the texts in which search results count, while the card is collapsed and while
// it is expanded: a line that the input repeats at its beginning counts once.
func (t Tool) Searched() (folded, open []string) {
	texts := t.Texts()
	if echoes(texts[0], texts[1]) {
		return texts[:1], texts[1:]
	}
	return texts[:1], texts[:]
}

// echoes reports whether a line is the beginning of the input.
func echoes(line, in string) bool {
	line = strings.TrimSuffix(line, " …")
	return line != "" && strings.HasPrefix(strings.TrimSpace(in), line)
}

// Words returns a card's texts as they are copied.
func (t Tool) Words(open bool) string {
	texts := t.Texts()
	if !open {
		return texts[0]
	}
	if echoes(texts[0], texts[1]) {
		texts[0] = ""
	}
	var list []string
	for _, s := range texts {
		if s = strings.Trim(s, "\n"); s != "" {
			list = append(list, s)
		}
	}
	return strings.Join(list, "\n\n")
}

// Passages returns its passages: always the same number, some of which may be hidden.
func (c *ToolCard) Passages() []Passage { return []Passage{c.arg, c.input.View(), c.output.View()} }

func (c *ToolCard) press(in Passage, at, times int) {
	if c.OnPress != nil {
		c.OnPress(in, at, times)
	}
}

func (c *ToolCard) menu(at fyne.Position) {
	if c.OnMenu != nil {
		c.OnMenu(at)
	}
}

// Copied returns the text that the card's button copies.
func (c *ToolCard) Copied() string { return c.copyText() }

// overlap is the number of bytes that must match before the rest is compared, at most overlapTries
// times.
const (
	overlap      = 64
	overlapTries = 100
)

// moved returns by how many runes a displayed output moves towards the end in its next state;
// negative is towards the beginning. Live output loses its beginning, and a call's result contains
// all of it. ok is false if the two texts are unrelated.
func moved(old, now string) (by int, ok bool) {
	if strings.HasPrefix(now, old) {
		return 0, true
	}
	if at := strings.Index(now, strings.TrimRight(old, "\n")); at >= 0 {
		return shownRunes(now[:at]), true
	}
	head := now[:min(len(now), overlap)]
	from := 0
	for range overlapTries {
		at := strings.Index(old[from:], head)
		if at < 0 || head == "" {
			break
		}
		if from += at; strings.HasPrefix(now, old[from:]) {
			return -shownRunes(old[:from]), true
		}
		from++
	}
	return 0, false
}

// shownRunes returns the number of runes of a text as displayed.
func shownRunes(s string) int { return utf8.RuneCountInString(cleanOutput(s)) }
