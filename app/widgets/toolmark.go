package widgets

import (
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
)

// Texts are what a card says in the order in which it is read: its line, what goes in, what came out. They are what [ToolCard.Passages] show
// when the card is open; folded it shows the first. It may be called on any goroutine.
func (t Tool) Texts() [3]string {
	in := cleanOutput(t.Input)
	if t.Diff != "" {
		in = strings.Join(text(DiffLines(t.Diff)), "\n")
	}
	return [3]string{cleanOutput(t.Argument), in, cleanOutput(t.Output)}
}

// Searched are the texts in which places of a query count, while the card is folded and while it is open: of a line that stands again at the beginning
// of what goes in they count once.
func (t Tool) Searched() (folded, open []string) {
	texts := t.Texts()
	if echoes(texts[0], texts[1]) {
		return texts[:1], texts[1:]
	}
	return texts[:1], texts[:]
}

// echoes reports whether a line is the beginning of what goes in.
func echoes(line, in string) bool {
	line = strings.TrimSuffix(line, " …")
	return line != "" && strings.HasPrefix(strings.TrimSpace(in), line)
}

// Words are the texts of a card as they are copied.
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

// Passages are its texts: always as many, some of which may be hidden.
func (c *ToolCard) Passages() []Passage { return []Passage{c.arg, c.input.code, c.output.code} }

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

// Copied is the text that the card's button copies.
func (c *ToolCard) Copied() string { return c.copyText() }

// overlap is how much of a text must be found in another before the rest is compared, in bytes; that is done overlapTries times at most.
const (
	overlap      = 64
	overlapTries = 100
)

// moved is by how many runes what was shown of an output stands later in the next state of it: live output loses its beginning, and the result
// of a call holds all of it. ok is false when the one has nothing to do with the other.
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

// shownRunes is how many runes a text has when it is shown.
func shownRunes(s string) int { return utf8.RuneCountInString(cleanOutput(s)) }
