package gateway_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

// TestWindowsLearnOfWorkspaceChanges: whoever changes a file there, through the gateway
// or directly.
func TestWindowsLearnOfWorkspaceChanges(t *testing.T) {
	h := newAccessGateway(t)
	text := "x"
	writes := map[string]func(n int){
		"agents/main/by-method.md": func(n int) {
			ask(h, protocol.WorkspaceWrite, protocol.WorkspaceWriteParams{Path: "by-method.md", Content: &text})
		},
		"agents/main/by-hand.md": func(n int) {
			if err := os.WriteFile(filepath.Join(h.home, "agents", "main", "by-hand.md"), fmt.Append(nil, n), 0o600); err != nil {
				t.Fatal(err)
			}
		},
	}
	for path, write := range writes {
		t.Run(path, func(t *testing.T) {
			told := false
			for n := 0; !told && n < 600; n++ { // the watch may start after the first write
				write(n)
				for wait := time.After(300 * time.Millisecond); wait != nil && !told; {
					select {
					case c := <-h.changes:
						told = c.Kind == protocol.ChangeFile && c.Path == path
					case <-wait:
						wait = nil
					}
				}
			}
			if !told {
				t.Errorf("nobody is told of %s", path)
			}
		})
	}
}
