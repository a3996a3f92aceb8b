package transfer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// Every destination that gsv__Transfer reports is the source of a second transfer here.
func TestReportedDestinationsExist(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	for name, text := range map[string]string{"k.txt": "k", "tf/in.txt": "in", "p:q.txt": "colon"} {
		p := filepath.Join(r.nodes["a"].dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	send := func(t *testing.T, source, destination, conflict string) string {
		t.Helper()
		args, _ := json.Marshal(map[string]string{"source": source, "destination": destination, "conflict": conflict})
		res, err := client.Call(t.Context(), r.c, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "gsv__Transfer", Args: args})
		if err != nil {
			t.Fatal(err)
		}
		var out struct {
			OK     bool
			Error  string
			Result struct{ Destination string }
		}
		if err := json.Unmarshal(res.Result, &out); err != nil || !out.OK {
			t.Fatalf("%s to %s: got error %s, %v, want none", source, destination, out.Error, err)
		}
		return out.Result.Destination
	}
	for _, c := range [][4]string{
		{"a:k.txt", "gsv:hh.txt", "overwrite", "gsv:hh.txt"},
		{"a:p:q.txt", "gsv:hh.txt", "rename", "gsv:hh (2).txt"},
		{"a:k.txt", "gsv:/hh2.txt", "overwrite", "gsv:hh2.txt"},
		{"a:k.txt", "gsv:./q.txt", "overwrite", "gsv:q.txt"},
		{"a:tf", "gsv:tf9", "overwrite", "gsv:tf9"},
		{"a:k.txt", "gsv:a:b.txt", "overwrite", "gsv:a:b.txt"},
		{"a:k.txt", "gsv:deep/er/a.txt", "overwrite", "gsv:deep/er/a.txt"},
		{"a:k.txt", "gsv:deep/", "overwrite", "gsv:deep/k.txt"},
		{"a:k.txt", "b:y.txt", "overwrite", "b:y.txt"},
		{"a:p:q.txt", "b:y.txt", "rename", "b:y (2).txt"},
		{"a:k.txt", "b:c:d.txt", "overwrite", "b:c:d.txt"},
		{"a:k.txt", `b:e\f.txt`, "overwrite", `b:e\f.txt`},
		{"a:k.txt", "b:sub/", "overwrite", "b:sub/k.txt"},
		{"a:k.txt", "b:./sub/z.txt", "overwrite", "b:./sub/z.txt"},
		{"a:tf", "b:tf9", "overwrite", "b:tf9"},
	} {
		t.Run(c[0]+" to "+c[1], func(t *testing.T) {
			got := send(t, c[0], c[1], c[2])
			if got != c[3] {
				t.Errorf("reported destination: got %q, want %q", got, c[3])
			}
			name := strings.Map(func(r rune) rune {
				if strings.ContainsRune(`/\:`, r) {
					return '_'
				}
				return r
			}, got)
			send(t, got, "a:back/"+name, "overwrite")
		})
	}
}
