package lists

import (
	"strings"
	"testing"
)

func TestSelectionFollowsTheKeysOfFileLists(t *testing.T) {
	var p Selection
	p.Set(strings.Fields("a b c d e"))
	chosen := func(want string) {
		t.Helper()
		if got := strings.Join(p.Selected(), " "); got != want {
			t.Errorf("%q are chosen, want %q", got, want)
		}
	}
	p.One(1)
	p.Range(3)
	chosen("b c d")
	p.Range(0)
	chosen("a b")
	p.Toggle(4)
	chosen("a b e")
	p.Toggle(0)
	chosen("b e")
	p.Move(1, false)
	chosen("b")
	p.Move(2, true)
	chosen("b c d")
	p.Move(-9, false)
	chosen("a")
	p.All()
	chosen("a b c d e")
	p.None()
	chosen("")
	p.Range(9)
	p.One(9)
	if p.Has(-1) || p.Has(9) {
		t.Error("lines that are not there are chosen")
	}
}

func TestSelectionSurvivesAChangeOfTheList(t *testing.T) {
	var p Selection
	p.Set(strings.Fields("a b c d"))
	p.One(1)
	p.Toggle(2)
	p.Set(strings.Fields("new d c b a"))
	if got := strings.Join(p.Selected(), " "); got != "c b" || p.Cursor() != 2 {
		t.Errorf(`%q, at %d; want "c b" and Cursor 2`, got, p.Cursor())
	}
	p.Set(strings.Fields("new d a")) // both were deleted: the cursor stays at its line
	if len(p.Selected()) != 0 || p.Cursor() != 2 {
		t.Errorf("%v, at %d; want no Selected and Cursor 2", p.Selected(), p.Cursor())
	}
	p.Set(nil)
	if p.Cursor() != -1 || p.Move(1, false) != 0 {
		t.Error("an empty list has no line")
	}
}

// Selected returns the selected paths, in the list's order.
func (p *Selection) Selected() []string {
	var list []string
	for i, path := range p.paths {
		if p.Has(i) {
			list = append(list, path)
		}
	}
	return list
}

func TestTheFirstKeyStartsAtTheEndThatItPointsTo(t *testing.T) {
	t.Parallel()
	for by, want := range map[int]int{1: 0, -1: 4, 3: 2, 5: 4, 9: 4, -5: 4} {
		var p Selection
		p.Set(strings.Fields("a b c d e"))
		if got := p.Move(by, false); got != want {
			t.Errorf("%d leads to %d, want %d", by, got, want)
		}
	}
}
