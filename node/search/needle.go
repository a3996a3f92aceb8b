package search

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// needle is a text that is searched for in the whole buffer at once, by its rarest byte.
type needle struct {
	text      []byte // in lower case when fold is set
	fold      bool   // ignore case; text is then ASCII
	rareIndex int    // index of the rarest byte in text
	low       byte
	high      byte // the same letter in upper case, or low
}

// maxNeedles is the maximum number of texts that are worth searching for one after the other.
const maxNeedles = 8

// common are the bytes of source code and prose, roughly by descending frequency.
const common = " etanoirsl\ncdupmfhgb.,y_()v/\"wk=T0-1S:C2*xE;AI'R3P{}NOL<>4D5M[]68F7B9\t#UGqHj&z`+W\\V|!@$X%^Y~K?QJZ"

var frequency = func() (f [256]uint8) {
	for i := range len(common) {
		f[common[i]] = uint8(255 - 2*i)
	}
	for i := utf8.RuneSelf; i < 256; i++ {
		f[i] = 40
	}
	return f
}()

func newNeedle(text []byte, fold bool) needle {
	n := needle{text: text, fold: fold}
	best := 1000
	for i, b := range text {
		cost := int(frequency[b])
		if up := upper(b); fold && up != b {
			cost += int(frequency[up])
		}
		if cost < best {
			best, n.rareIndex = cost, i
		}
	}
	n.low = text[n.rareIndex]
	n.high = n.low
	if fold {
		n.high = upper(n.low)
	}
	return n
}

// cost estimates how often the needle must be compared without a match.
func (n needle) cost() int {
	c := int(frequency[n.low])
	if n.high != n.low {
		c += int(frequency[n.high])
	}
	return 2*c - min(len(n.text), 12)*8
}

func upper(b byte) byte {
	if 'a' <= b && b <= 'z' {
		return b - 'a' + 'A'
	}
	return b
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b - 'A' + 'a'
	}
	return b
}

// index returns the first position of the needle in text at from or later, or -1.
func (n *needle) index(text []byte, from int) int {
	// The rarest byte may be in i <= end.
	i, end := from+n.rareIndex, len(text)-len(n.text)+n.rareIndex
	low, high := -1, -1 // position of its next occurrence, or end+1
	for i <= end {
		if low < i {
			low = indexByte(text, i, end, n.low)
		}
		hit := low
		if n.high != n.low {
			// Search no farther than the other: a byte that is rare in one case is searched for
			// once.
			if high < i {
				high = indexByte(text, i, min(end, low), n.high)
			}
			hit = min(low, high)
		}
		if hit > end {
			return -1
		}
		if start := hit - n.rareIndex; n.equals(text[start : start+len(n.text)]) {
			return start
		}
		i = hit + 1
	}
	return -1
}

func indexByte(text []byte, from, last int, b byte) int {
	if i := bytes.IndexByte(text[from:last+1], b); i >= 0 {
		return from + i
	}
	return last + 1
}

func (n *needle) equals(text []byte) bool {
	if !n.fold {
		return string(text) == string(n.text)
	}
	for i, b := range n.text {
		if lower(text[i]) != b {
			return false
		}
	}
	return true
}

// requiredNeedles returns texts of which each matching line contains one; nil: unknown.
func requiredNeedles(re *syntax.Regexp) []needle {
	switch re.Op {
	case syntax.OpLiteral:
		return literalNeedle(re)
	case syntax.OpCapture, syntax.OpPlus:
		return requiredNeedles(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return requiredNeedles(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []needle
		for _, sub := range re.Sub {
			if set := requiredNeedles(sub); len(set) > 0 && (best == nil || setCost(set) < setCost(best)) {
				best = set
			}
		}
		return best
	case syntax.OpAlternate:
		var all []needle
		for _, sub := range re.Sub {
			set := requiredNeedles(sub)
			if len(set) == 0 {
				return nil
			}
			all = append(all, set...)
		}
		if len(all) <= maxNeedles {
			return all
		}
	}
	return nil
}

func setCost(set []needle) int {
	worst := 0
	for i, n := range set {
		if c := n.cost(); i == 0 || c > worst {
			worst = c
		}
	}
	return worst + 40*len(set)
}

// literalNeedle returns a literal, or the best part of one if case is ignored. K and S have other
// cases outside of ASCII.
func literalNeedle(re *syntax.Regexp) []needle {
	if re.Flags&syntax.FoldCase == 0 {
		return []needle{newNeedle([]byte(string(re.Rune)), false)}
	}
	var best []needle
	for _, part := range foldable(re.Rune) {
		if n := newNeedle(part, true); best == nil || n.cost() < best[0].cost() {
			best = []needle{n}
		}
	}
	return best
}

// foldable splits a literal into parts whose letters have two cases, in lower case.
func foldable(literal []rune) (parts [][]byte) {
	var part []byte
	for _, r := range append(slices.Clone(literal), utf8.RuneError) {
		if r < utf8.RuneSelf && lower(byte(r)) != 'k' && lower(byte(r)) != 's' {
			part = append(part, lower(byte(r)))
			continue
		}
		if len(part) > 0 {
			parts = append(parts, part)
		}
		part = nil
	}
	return parts
}

// prefilter finds the next position at which a line may match.
type prefilter struct {
	needles []needle
	// next is the position of each needle's last match, valid for the text for which reset was
	// called.
	next [maxNeedles]int
}

func (p *prefilter) reset() {
	for i := range p.needles {
		p.next[i] = -1
	}
}

// index is like [needle.index] for all needles; between two calls of reset, from may only increase.
func (p *prefilter) index(text []byte, from int) int {
	first := len(text)
	for i := range p.needles {
		if p.next[i] < from {
			if p.next[i] = p.needles[i].index(text, from); p.next[i] < 0 {
				p.next[i] = len(text)
			}
		}
		first = min(first, p.next[i])
	}
	if first == len(text) {
		return -1
	}
	return first
}
