package stream

import (
	"os"
	"path/filepath"
	"testing"
)

// The source reports the MIME type of a single file, as GSV does for gsv__Transfer.
func TestOneFileIsKnownByItsFirstBytes(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"picture": "\x89PNG\r\n\x1a\n", "archive": "PK\x03\x04", "text": "words", "empty": "", "other": "\x00\x01\x02", "folder/x": "x",
	} {
		os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, want := range map[string]string{
		"picture": "image/png", "archive": "application/zip", "text": "text/markdown", "empty": "text/markdown", "other": "", "folder": "", "missing": "",
	} {
		t.Run(name, func(t *testing.T) {
			if got := mimeOfOne([]Item{{Root: root, At: name, Text: "text/markdown"}}); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		})
	}
	if got := mimeOfOne([]Item{{Root: root, At: "picture"}, {Root: root, At: "archive"}}); got != "" {
		t.Errorf("two files are %q, want no type", got)
	}
}
