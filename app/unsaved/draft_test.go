package unsaved

import (
	"cmp"
	"context"
	"errors"
	"testing"
)

type testForm struct {
	Name  string
	Words []string
}

func TestDraftReturnsTheUnsavedText(t *testing.T) {
	var drafts Store
	start := testForm{Name: "new"}
	draft, content := Open(&drafts, "rule 1", start)
	if draft.IsRestored || content.Name != "new" {
		t.Fatalf("First opening: got %v, restored %v, want the start", content, draft.IsRestored)
	}
	draft.Save(testForm{"typed", []string{"git", "push"}})
	if draft, content = Open(&drafts, "rule 1", start); !draft.IsRestored || content.Name != "typed" || len(content.Words) != 2 {
		t.Errorf("Second opening: got %v, restored %v, want what was typed", content, draft.IsRestored)
	}
	if other, _ := Open(&drafts, "rule 2", start); other.IsRestored {
		t.Error("another form has the draft, too")
	}
	if _, ok := drafts.File("rule 1"); ok {
		t.Error("a file of the same name has the draft of the form")
	}
}

func TestDraftEnds(t *testing.T) {
	for name, end := range map[string]func(Draft[testForm]){
		"dropped":    Draft[testForm].Drop,
		"typed back": func(d Draft[testForm]) { d.Save(testForm{Name: "new"}) },
	} {
		t.Run(name, func(t *testing.T) {
			var drafts Store
			start := testForm{Name: "new"}
			draft, _ := Open(&drafts, "rule", start)
			draft.Save(testForm{Name: "typed"})
			end(draft)
			if draft, content := Open(&drafts, "rule", start); draft.IsRestored || content.Name != "new" {
				t.Errorf("Form: got %v, restored %v, want the start", content, draft.IsRestored)
			}
		})
	}
}

func TestSavedFormLeavesNoDraft(t *testing.T) {
	for name, want := range map[string]error{"saved": nil, "refused": errors.New("refused")} {
		t.Run(name, func(t *testing.T) {
			var drafts Store
			draft, _ := Open(&drafts, "rule", testForm{})
			draft.Save(testForm{Name: "typed"})
			left, leave := context.WithCancel(t.Context())
			leave()
			err := draft.Saving(func(ctx context.Context) error { return cmp.Or(ctx.Err(), want) })(left)
			if !errors.Is(err, want) {
				t.Errorf("Saving after the person has left: got %v, want %v", err, want)
			}
			if again, _ := Open(&drafts, "rule", testForm{}); again.IsRestored != (want != nil) {
				t.Errorf("The draft is there: got %v, want %v", again.IsRestored, want != nil)
			}
		})
	}
}

func TestUnsavedTextOfAFileStays(t *testing.T) {
	var drafts Store
	drafts.SaveFile("SOUL.md", "half a")
	if text, ok := drafts.File("SOUL.md"); !ok || text != "half a" {
		t.Errorf("File: got %q, %v, want what was typed", text, ok)
	}
	drafts.SaveFile("SOUL.md", "")
	if _, ok := drafts.File("SOUL.md"); ok {
		t.Error("the draft is still there after it was saved")
	}
}
