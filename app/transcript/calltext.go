package transcript

import (
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"

	"fairlead/app/code"
	"fairlead/app/diff"
	"fairlead/app/selection"
)

// Texts returns a card's texts in reading order: its line, the input, the output.
// [CallCard.Passages] shows all of them when expanded, and the first when collapsed. It may be
// called on any goroutine.
func (t Call) Texts() [3]string {
	in := code.CleanOutput(t.Input)
	if t.Diff != "" {
		in = code.JoinLines(diff.Lines(t.Diff))
	}
	return [3]string{code.CleanOutput(t.Argument), in, code.CleanOutput(t.Output)}
}

// SearchTexts returns the texts in which search results count, while the card is collapsed and
// while it is expanded: a line that the input repeats at its beginning counts once.
func (t Call) SearchTexts() (folded, open []string) {
	texts := t.Texts()
	if repeatsIn(texts[0], texts[1]) {
		return texts[:1], texts[1:]
	}
	return texts[:1], texts[:]
}

// repeatsIn reports whether a line is the beginning of the input.
func repeatsIn(line, in string) bool {
	line = strings.TrimSuffix(line, " …")
	return line != "" && strings.HasPrefix(strings.TrimSpace(in), line)
}

// CopyText returns a card's texts as they are copied.
func (t Call) CopyText(open bool) string {
	texts := t.Texts()
	if !open {
		return texts[0]
	}
	if repeatsIn(texts[0], texts[1]) {
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
func (c *CallCard) Passages() []selection.Passage {
	return []selection.Passage{c.argument, c.input.View(), c.output.View()}
}

func (c *CallCard) press(in selection.Passage, at, times int) {
	if c.OnPress != nil {
		c.OnPress(in, at, times)
	}
}

func (c *CallCard) menu(at fyne.Position) {
	if c.OnMenu != nil {
		c.OnMenu(at)
	}
}

// CopyText returns the text that the card's button copies.
func (c *CallCard) CopyText() string { return c.copyText() }

// overlap is the number of bytes that must match before the rest is compared, at most overlapTries
// times.
const (
	minOverlap      = 64
	maxOverlapTries = 100
)

// outputShift returns by how many runes a displayed output moves towards the end in its next state;
// negative is towards the beginning. Live output loses its beginning, and a call's result contains
// all of it. ok is false if the two texts are unrelated.
func outputShift(old, now string) (by int, ok bool) {
	if strings.HasPrefix(now, old) {
		return 0, true
	}
	if at := strings.Index(now, strings.TrimRight(old, "\n")); at >= 0 {
		return displayedRunes(now[:at]), true
	}
	head := now[:min(len(now), minOverlap)]
	from := 0
	for range maxOverlapTries {
		at := strings.Index(old[from:], head)
		if at < 0 || head == "" {
			break
		}
		if from += at; strings.HasPrefix(now, old[from:]) {
			return -displayedRunes(old[:from]), true
		}
		from++
	}
	return 0, false
}

// displayedRunes returns the number of runes of a text as displayed.
func displayedRunes(s string) int { return utf8.RuneCountInString(code.CleanOutput(s)) }
