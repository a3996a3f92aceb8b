package question

import (
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// TestAnEditOfEveryPlaceIsTakenInParts selects parts of an edit that replaces all occurrences, and
// of one with several replacements.
func TestAnEditOfEveryPlaceIsTakenInParts(t *testing.T) {
	const diff = "@@ -1,2 +1,2 @@\n-one old\n+one new\n a\n@@ -9,2 +9,2 @@\n b\n-two old\n+two new\n@@ -20,2 +20,2 @@\n c\n-three old\n+three new\n"
	file := "one old\na\n" + strings.Repeat("x\n", 6) + "b\ntwo old\n" + strings.Repeat("y\n", 9) + "c\nthree old\n"
	for _, args := range []string{
		`{"path":"f","oldString":"old","newString":"new","replaceAll":true,"expectedSha256":"ab"}`,
		`{"path":"f","oldString":"one old","newString":"one new","edits":[{"oldString":"old","newString":"new","replaceAll":true}],"expectedSha256":"ab"}`,
	} {
		q := protocol.Question{Kind: protocol.AskCall, Tool: "Edit", Args: json.RawMessage(args), Preview: &protocol.CallPreview{Diff: diff}}
		if !CanPick(q) {
			t.Fatalf("%s: no part can be picked", args)
		}
		for _, keep := range [][]bool{{true, false, false}, {false, true, true}, {true, true, true}, {false, false, true}} {
			raw, err := PickHunks(q, keep)
			if err != nil {
				t.Fatal(err)
			}
			want := file
			for i, word := range []string{"one", "two", "three"} {
				if keep[i] {
					want = strings.Replace(want, word+" old", word+" new", 1)
				}
			}
			if got := applyEdits(t, file, raw); got != want {
				t.Errorf("%v of %s makes\n%s", keep, args, got)
			}
		}
		if _, err := PickHunks(q, []bool{false, false, false}); err == nil {
			t.Error("nothing at all is a part")
		}
	}
}

// TestPlacesThatLookTheSameAreTakenWhole has hunks with identical context.
func TestPlacesThatLookTheSameAreTakenWhole(t *testing.T) {
	for _, diff := range []string{
		"@@ -1,2 +1,2 @@\n a\n-old\n+new\n@@ -9,2 +9,2 @@\n a\n-old\n+new\n",
		"@@ -1 +1 @@\n-old\n+new\n@@ -9,3 +9,3 @@\n a\n-older\n+newer\n b\n",
		"@@ -1,2 +1,2 @@\n a\n-old\n+old old\n@@ -9 +9 @@\n-a\n\\ No newline at end of file\n+b\n",
	} {
		q := protocol.Question{
			Kind: protocol.AskCall, Tool: "Edit", Args: json.RawMessage(`{"path":"f","oldString":"old","newString":"new","replaceAll":true}`),
			Preview: &protocol.CallPreview{Diff: diff},
		}
		if CanPick(q) {
			t.Errorf("parts of %q can be picked", diff)
		}
	}
}

// applyEdits applies an edit's replacements as a machine does: each old text must occur exactly once.
func applyEdits(t *testing.T, file string, args json.RawMessage) string {
	t.Helper()
	type step struct{ OldString, NewString string }
	var in struct {
		step
		ReplaceAll     bool
		Edits          []step
		ExpectedSHA256 string
	}
	if err := json.Unmarshal(args, &in); err != nil || in.ReplaceAll || in.ExpectedSHA256 != "ab" {
		t.Fatalf(`%s: got %v; want no error, not ReplaceAll and ExpectedSHA256 "ab"`, args, err)
	}
	for _, s := range append([]step{in.step}, in.Edits...) {
		if strings.Count(file, s.OldString) != 1 {
			t.Fatalf("%q is in the file %d times, want 1", s.OldString, strings.Count(file, s.OldString))
		}
		file = strings.Replace(file, s.OldString, s.NewString, 1)
	}
	return file
}

func TestAChangeIsCountedInLines(t *testing.T) {
	t.Parallel()
	q := protocol.Question{Preview: &protocol.CallPreview{Added: 3, Removed: 2, Diff: "@@ -1,2 +1,3 @@\n-a\n+b\n+c\n@@ -9 +9 @@\n-d\n+e\n@@ -20 +19 @@\n-f\n"}}
	for _, c := range []struct {
		name           string
		keep           []bool
		added, removed int
		want           string
	}{
		{"all", nil, 3, 2, "3 lines added, 2 removed"},
		{"all parts", []bool{true, true, true}, 3, 2, "3 lines added, 2 removed"},
		{"one part", []bool{false, true, false}, 3, 2, "1 line added, 1 removed"},
		{"only removed", []bool{false, false, true}, 3, 2, "1 line removed"},
		{"only added", nil, 1, 0, "1 line added"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q.Preview.Added, q.Preview.Removed = c.added, c.removed
			if got := ChangeText(q, c.keep); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestChangeOfSeveralFilesIsShownWhole(t *testing.T) {
	first := "--- a\n+++ a\n@@ -1,2 +1,2 @@\n-x\n--- y\n+z\n+++ w\n"
	if got := Hunks(first); len(got) != 1 || len(got[0].Lines) != 4 {
		t.Errorf("one file: got %+v, want one part of 4 lines", got)
	}
	if got := Hunks(first + "--- b\n+++ b\n@@ -0,0 +1 @@\n+q\n"); got != nil {
		t.Errorf("two files: got %+v, want no parts", got)
	}
}
