package fs

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/node/tooltest"
)

func TestReadingToolsNameThePathThatLooksTheSame(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct{ path, asked string }{
		{"Screenshot at 9.22\u202fPM.png", "Screenshot at 9.22 PM.png"},
		{"cafe\u0301.txt", "café.txt"},
		{"My\u00a0folder/it’s/notes.txt", "My folder/it's/notes.txt"},
	} {
		path := in(b, c.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		b.File(c.path, "text")
		for _, tool := range []string{"fs_read", "fs_stat", "fs_list"} {
			fault(b, tool, tooltest.Args{"path": in(b, c.asked)}, protocol.FaultNotFound, strconv.QuoteToASCII(path))
		}
	}
	fault(b, "fs_list", tooltest.Args{"path": in(b, "My folder")}, protocol.FaultNotFound, strconv.QuoteToASCII(in(b, "My\u00a0folder")))
	b.File("one\u00a0x", "")
	b.File("one\u2009x", "")
	if f := fault(b, "fs_read", tooltest.Args{"path": in(b, "one x")}, protocol.FaultNotFound, "does not exist"); f.Message != "'"+in(b, "one x")+"' does not exist" {
		t.Errorf("with two of them: got %q, want none named", f.Message)
	}
	fault(b, "fs_delete", tooltest.Args{"path": in(b, "café.txt")}, protocol.FaultNotFound, "does not exist")
}
