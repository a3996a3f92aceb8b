package browse

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestATextFileIsEditedInItsForm(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, text, after string }{
		"plain":              {"one\ntwo\n", "one\ntwo\n", "new\nline\n"},
		"line ends":          {"one\r\ntwo\r\n", "one\ntwo\n", "new\r\nline\r\n"},
		"mixed line ends":    {"one\r\ntwo\n", "one\ntwo\n", "new\nline\n"},
		"a byte order mark":  {"\ufeffone\r\n", "one\n", "\ufeffnew\r\nline\r\n"},
		"a file without end": {"one", "one", "new\nline\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b, dir := browser(t)
			put(t, filepath.Join(dir, "a.txt"), c.before)
			r, err := do[protocol.FilesReadResult](t, b, protocol.ActRead, protocol.FilesPathParams{Path: "a.txt"})
			if err != nil || r.Text != c.text || r.Why != "" {
				t.Fatalf("got %+v, error %v, want the text %q", r, err, c.text)
			}
			w, err := do[protocol.FilesWriteResult](t, b, protocol.ActWrite, protocol.FilesWriteParams{Path: "a.txt", Text: "new\nline\n", Sum: r.Sum})
			if err != nil || w.Changed || w.Sum == r.Sum {
				t.Fatalf("got %+v, error %v, want a new checksum", w, err)
			}
			if got, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(got) != c.after {
				t.Errorf("the file has %q, want %q", got, c.after)
			}
		})
	}
}

func TestAFileThatChangedMeanwhileIsNotOverwritten(t *testing.T) {
	t.Parallel()
	b, dir := browser(t)
	file := filepath.Join(dir, "a.txt")
	for name, change := range map[string]func(){
		"changed":   func() { put(t, file, "theirs") },
		"deleted":   func() { os.Remove(file) },
		"too large": func() { put(t, file, strings.Repeat("x", maxEdit+1)) },
	} {
		t.Run(name, func(t *testing.T) {
			put(t, file, "old")
			r, err := do[protocol.FilesReadResult](t, b, protocol.ActRead, protocol.FilesPathParams{Path: "a.txt"})
			if err != nil {
				t.Fatal(err)
			}
			change()
			before, _ := os.ReadFile(file)
			w, err := do[protocol.FilesWriteResult](t, b, protocol.ActWrite, protocol.FilesWriteParams{Path: "a.txt", Text: "mine", Sum: r.Sum})
			if err != nil || !w.Changed {
				t.Errorf("got %+v, error %v, want that the file changed", w, err)
			}
			if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
				t.Errorf("got file %q, want %q", after, before)
			}
		})
	}
}

func TestAFileThatIsGoneIsCreatedAgain(t *testing.T) {
	t.Parallel()
	b, dir := browser(t)
	r, err := do[protocol.FilesReadResult](t, b, protocol.ActRead, protocol.FilesPathParams{Path: "new.txt"})
	if err != nil || r.Sum != protocol.FileAbsent {
		t.Fatalf("got %+v, error %v, want an absent file", r, err)
	}
	w, err := do[protocol.FilesWriteResult](t, b, protocol.ActWrite, protocol.FilesWriteParams{Path: "new.txt", Text: "new", Sum: r.Sum})
	if got, _ := os.ReadFile(filepath.Join(dir, "new.txt")); err != nil || w.Changed || string(got) != "new" {
		t.Errorf("got %+v, error %v, file %q, want %q", w, err, got, "new")
	}
}

func TestFileThatIsNotTextIsNotEdited(t *testing.T) {
	t.Parallel()
	b, dir := browser(t)
	for name, c := range map[string]struct{ content, why string }{
		"binary.bin": {"a\x00b", "Only text files"},
		"latin.txt":  {"gr\xfc\xdfe", "Only text files"},
		"large.txt":  {strings.Repeat("x", maxEdit+1), "Only files of up to 1.0 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			put(t, filepath.Join(dir, name), c.content)
			r, err := do[protocol.FilesReadResult](t, b, protocol.ActRead, protocol.FilesPathParams{Path: name})
			if err != nil || r.Text != "" || !strings.HasPrefix(r.Why, c.why) {
				t.Errorf("got %d bytes, why %q, error %v, want why %q", len(r.Text), r.Why, err, c.why)
			}
		})
	}
}
