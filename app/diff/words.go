package diff

import (
	"unicode"

	"fyne.io/fyne/v2"

	"fairlead/app/code"
	"fairlead/app/style"
)

// maxWords is the number of words from which a line is not compared word by word.
const maxWords = 300

// markLines marks the changed words of removed and added lines that follow each other.
func markLines(removed, added []code.Line) {
	for i := range min(len(removed), len(added)) {
		before, after := words(removed[i].Text()), words(added[i].Text())
		if len(before) > maxWords || len(after) > maxWords {
			continue
		}
		sameBefore, sameAfter, common := commonWords(before, after)
		if 2*common < max(letters(before), letters(after)) {
			continue // another line, not a changed one
		}
		removed[i] = mark(removed[i], before, sameBefore, style.ColorBad)
		added[i] = mark(added[i], after, sameAfter, style.ColorGood)
	}
}

// words splits a line into words, blanks and single signs.
func words(line string) (list []string) {
	kind, last := func(r rune) int {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 3
	}, 0
	for _, r := range line {
		if k := kind(r); k == last && k != 3 {
			list[len(list)-1] += string(r)
		} else {
			list, last = append(list, string(r)), k
		}
	}
	return list
}

// letters counts the bytes of words that are no blanks.
func letters(words []string) (n int) {
	for _, w := range words {
		if w[0] != ' ' {
			n += len(w)
		}
	}
	return n
}

// commonWords finds the longest common subsequence. It returns which words of both sides belong to
// it, and their length in bytes without blanks.
func commonWords(a, b []string) (inA, inB []bool, common int) {
	length := make([][]int, len(a)+1) // of the common subsequence of a[i:] and b[k:]
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for k := len(b) - 1; k >= 0; k-- {
			if a[i] == b[k] {
				length[i][k] = length[i+1][k+1] + len(a[i])
			} else {
				length[i][k] = max(length[i+1][k], length[i][k+1])
			}
		}
	}
	inA, inB = make([]bool, len(a)), make([]bool, len(b))
	for i, k := 0, 0; i < len(a) && k < len(b); {
		switch {
		case a[i] == b[k]:
			inA[i], inB[k] = true, true
			common += letters(a[i : i+1])
			i, k = i+1, k+1
		case length[i+1][k] >= length[i][k+1]:
			i++
		default:
			k++
		}
	}
	return inA, inB, common
}

// mark gives the words of a line that are not the same a background.
func mark(l code.Line, words []string, same []bool, background fyne.ThemeColorName) code.Line {
	out := code.Line{Background: l.Background, Gutter: l.Gutter}
	word, left := 0, 0 // the current word, and how many bytes of it are left
	for _, s := range l.Spans {
		for text := s.Text; text != ""; {
			for left == 0 {
				left = len(words[word])
				word++
			}
			part := s
			part.Text = text[:min(left, len(text))]
			text, left = text[len(part.Text):], left-len(part.Text)
			if !same[word-1] {
				part.Background = background
			}
			out.Spans = append(out.Spans, part)
		}
	}
	return out
}
