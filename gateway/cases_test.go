//go:build unix

package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"fairlead/gateway/protocol"
)

// readTable reads a file of testdata/cases without its first line.
func readTable(t *testing.T, name string, columns int) (rows [][]string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "cases", name))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimRight(string(raw), "\n"), "\n") {
		row := strings.Split(line, "\t")
		if len(row) != columns {
			t.Fatalf("%s, line %d: got %d columns, want %d", name, i+1, len(row), columns)
		}
		if i > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

// callREST calls a tool over REST and decodes the data of its answer into out, which may be nil.
func (p *programs) callREST(token, tool, args string, out any) (status int) {
	p.t.Helper()
	status, answer, _ := p.request(http.MethodPost, "/api/v1/tools/"+tool, args, "Authorization", "Bearer "+token)
	var r struct{ Data json.RawMessage }
	if out == nil {
		return status
	}
	if err := json.Unmarshal([]byte(answer), &r); err != nil || status != http.StatusOK {
		p.t.Fatalf("%s(%s): got %d %s; want no error and status StatusOK", tool, args, status, answer)
	}
	if err := json.Unmarshal(r.Data, out); err != nil {
		p.t.Fatal(err)
	}
	return status
}

// transferred returns the destination that a transfer reports.
func (p *programs) transferred(args string) string {
	p.t.Helper()
	var out struct{ Result struct{ Destination string } }
	p.callREST(ownerToken, "gsv__Transfer", args, &out)
	return out.Result.Destination
}

// caseRunners return what the input of each class gives.
var caseRunners = map[string]func(p *programs, input string) string{
	"transfer": (*programs).transferred,
	"transfer back": func(p *programs, input string) string { // from the destination just reported
		return p.transferred(fmt.Sprintf(`{"source":%q,"destination":"box:back.txt"}`, p.transferred(input)))
	},
	"grep": func(p *programs, input string) string {
		var in struct{ Text, UTF16, Pattern string }
		if err := json.Unmarshal([]byte(input), &in); err != nil {
			p.t.Fatal(err)
		}
		text := []byte(in.Text)
		if in.UTF16 != "" {
			text = []byte{0xff, 0xfe}
			for _, unit := range utf16.Encode([]rune(in.UTF16)) {
				text = append(text, byte(unit), byte(unit>>8))
			}
		}
		p.write("case.txt", string(text))
		var out struct{ Count int }
		args, err := json.Marshal(map[string]string{"pattern": in.Pattern, "path": "case.txt"})
		if err != nil {
			p.t.Fatal(err)
		}
		p.callREST(ownerToken, "box__Grep", string(args), &out)
		return fmt.Sprint(out.Count)
	},
	"rest": func(p *programs, input string) string { // with the owner's token unless it has scopes
		var in struct {
			Tool   string
			Args   json.RawMessage
			Scopes []protocol.Scope
		}
		if err := json.Unmarshal([]byte(input), &in); err != nil {
			p.t.Fatal(err)
		}
		token := ownerToken
		if in.Scopes != nil {
			token = p.token("A", in.Scopes...)
		}
		return fmt.Sprint(p.callREST(token, in.Tool, string(in.Args), nil))
	},
}

// write writes a file in the workspace of the node.
func (p *programs) write(name, text string) {
	p.t.Helper()
	file := filepath.Join(p.workspace, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// Each input failed once: with real clients, in public reports about similar programs, or in a
// comparison with the original system. The order counts: a transfer may find the file of another
// one.
func TestCasesThatFailedOnce(t *testing.T) {
	p := openPrograms(t)
	for _, name := range []string{"k.txt", "p.png", "one.txt", "r1.txt", "tf/in.txt"} {
		p.write(name, name)
	}
	for _, row := range readTable(t, "inputs.tsv", 3) {
		class, input, want := row[0], row[1], row[2]
		t.Run(class+" "+input, func(t *testing.T) {
			run := caseRunners[class]
			if run == nil {
				t.Fatal("nothing runs this class")
			}
			p.accessGateway.t = t
			if got := run(p, input); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	p.accessGateway.t = t
}

// Inputs that need another test have one, which exists.
func TestOtherCasesHaveTests(t *testing.T) {
	for _, row := range readTable(t, "covered.tsv", 4) {
		name, folder, test := row[0], row[2], row[3]
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(folder), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(raw), "\nfunc "+test+"(")
		}
		if !found {
			t.Errorf("%s: %s has no test %s", name, folder, test)
		}
	}
}
