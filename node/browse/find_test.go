package browse

import (
	"path/filepath"
	"testing"

	"fairlead/gateway/protocol"
)

func TestFindReturnsPathsBelowTheWorkspace(t *testing.T) {
	b, dir := browser(t)
	put(t, filepath.Join(dir, "a", "b", "report.pdf"), "x")
	r, err := do[protocol.FilesFindResult](t, b, protocol.ActFind, protocol.FilesFindParams{Query: "report"})
	if err != nil || r.Path != dir || len(r.Found) != 1 || r.Found[0] != (protocol.FoundFile{Path: "a/b/report.pdf"}) {
		t.Errorf("got %+v, error %v, want the report in %s", r, err, dir)
	}
}

func TestNewSearchEndsThePreviousOne(t *testing.T) {
	var f finding
	first, end := f.begin(t.Context())
	defer end()
	second, end := f.begin(t.Context())
	defer end()
	if first.Err() == nil || second.Err() != nil {
		t.Errorf("got %v and %v, want only the first one ended", first.Err(), second.Err())
	}
	if _, ok := second.Deadline(); !ok {
		t.Error("got a search without a limit")
	}
}
