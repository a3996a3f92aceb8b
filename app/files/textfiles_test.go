package files

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

// oneFile is a machine with one text file; its checksum is its text.
type oneFile struct {
	mu    sync.Mutex // guards the fields below
	text  string
	race  string // written by somebody else just before the next write; empty for nobody
	ofWhy string
}

func (o *oneFile) serve(f *feedtest.Gateway) {
	f.Snapshot.Nodes = []protocol.NodeInfo{{ID: "nas", Online: true, Files: true}}
	feedtest.On(f, protocol.FilesRead, func(p protocol.FilesPathParams) (protocol.FilesReadResult, error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.text == "" {
			return protocol.FilesReadResult{Sum: protocol.FileAbsent}, nil
		}
		return protocol.FilesReadResult{Text: o.text, Sum: o.text, Why: o.ofWhy}, nil
	})
	feedtest.On(f, protocol.FilesWrite, func(p protocol.FilesWriteParams) (protocol.FilesWriteResult, error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.race != "" {
			o.text, o.race = o.race, ""
		}
		if p.Sum != o.text && !(p.Sum == protocol.FileAbsent && o.text == "") {
			return protocol.FilesWriteResult{Changed: true}, nil
		}
		o.text = p.Text
		return protocol.FilesWriteResult{Sum: p.Text}, nil
	})
}

func TestAFileOfAMachineIsSavedUnlessItChanged(t *testing.T) {
	for name, c := range map[string]struct {
		now, race string
		existed   bool
		conflict  *feed.Conflict
		after     string
	}{
		"unchanged":                 {now: "old", existed: true, after: "mine"},
		"changed":                   {now: "theirs", existed: true, conflict: &feed.Conflict{Current: "theirs"}, after: "theirs"},
		"changed while it is saved": {now: "old", race: "theirs", existed: true, conflict: &feed.Conflict{Current: "theirs"}, after: "theirs"},
		"changed to the same":       {now: "mine", existed: true, after: "mine"},
		"deleted":                   {now: "", existed: true, conflict: &feed.Conflict{Deleted: true}, after: ""},
		"deleted, and created anew": {now: "", existed: false, after: "mine"},
		"created by somebody else":  {now: "theirs", existed: false, conflict: &feed.Conflict{Current: "theirs"}, after: "theirs"},
	} {
		t.Run(name, func(t *testing.T) {
			o := &oneFile{text: c.now, race: c.race}
			feedtest.Run(t, feed.New, o.serve, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
				fs := newModel(a)
				fs.Open("nas")
				synctest.Wait()
				err := fs.TextFiles().SaveOver(t.Context(), "a.txt", "mine", "old", c.existed)
				got, isConflict := errors.AsType[*feed.Conflict](err)
				if isConflict != (c.conflict != nil) || isConflict && *got != *c.conflict || !isConflict && err != nil {
					t.Errorf("got %v, want %v", err, c.conflict)
				}
				if o.text != c.after {
					t.Errorf("the file has %q, want %q", o.text, c.after)
				}
			})
		})
	}
}

func TestAFileThatCannotBeEditedSaysWhy(t *testing.T) {
	o := &oneFile{text: "x", ofWhy: "Only text files in UTF-8 can be edited here."}
	feedtest.Run(t, feed.New, o.serve, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		fs := newModel(a)
		fs.Open("nas")
		synctest.Wait()
		if _, exists, err := fs.TextFiles().Text(t.Context(), "a.bin"); exists || err == nil || err.Error() != o.ofWhy {
			t.Errorf("exists: got %v, %v; want not exists and the error %v", exists, err, o.ofWhy)
		}
	})
}
