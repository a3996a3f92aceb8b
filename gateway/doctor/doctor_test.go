package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// fakeGateway is a gateway for tests.
type fakeGateway struct {
	status protocol.Status
	nodes  []protocol.NodeInfo
	mcp    []protocol.ServerStatus
	test   protocol.ModelsTestResult
	fail   error
}

func (p fakeGateway) Status(context.Context) (protocol.Status, error)          { return p.status, p.fail }
func (p fakeGateway) Nodes(context.Context) ([]protocol.NodeInfo, error)       { return p.nodes, nil }
func (p fakeGateway) Servers(context.Context) ([]protocol.ServerStatus, error) { return p.mcp, nil }
func (p fakeGateway) TestModel(context.Context, protocol.ModelRef) (protocol.ModelsTestResult, error) {
	return p.test, nil
}

func TestFindingsNameTheProblemAndItsFix(t *testing.T) {
	t.Parallel()
	online := []protocol.NodeInfo{{ID: "box", Online: true}}
	tcp := []protocol.EnforcedCheck{{ID: "fs.write.outside", Enforced: true}, {ID: "net.tcp", Why: "the kernel is too old"}}
	limited := func(e protocol.Enforcement) []protocol.NodeInfo {
		return []protocol.NodeInfo{{ID: "box", Name: "Box", Online: true, Local: true, Host: &protocol.HostInfo{Enforcement: &e}}}
	}
	operator := protocol.ModelRef{Provider: "operator", ID: "built-in"}
	for _, c := range []struct {
		name    string
		patient fakeGateway
		want    string // findings that are not ok: check, state and action
	}{
		{"healthy", fakeGateway{status: protocol.Status{Version: "1", Model: operator}, nodes: online}, ""},
		{"no connection", fakeGateway{fail: errors.New("gone")}, "gateway bad "},
		{"another version", fakeGateway{status: protocol.Status{Version: "2", Model: operator}, nodes: online}, "gateway warning "},
		{"paused", fakeGateway{status: protocol.Status{Version: "1", Model: operator, Paused: true}, nodes: online}, "agent warning resume"},
		{"full disk", fakeGateway{status: protocol.Status{Version: "1", Model: operator, Storage: "full"}, nodes: online}, "database bad folder"},
		{"no machine", fakeGateway{status: protocol.Status{Version: "1", Model: operator}}, "machines warning machines"},
		{"a broken login profile", fakeGateway{status: protocol.Status{Version: "1", Model: operator}, nodes: []protocol.NodeInfo{{
			ID: "box", Name: "Box", Online: true, Host: &protocol.HostInfo{Enforcement: &protocol.Enforcement{Mode: "read-only", Summary: "contained", Checks: tcp[:1]}}, Warnings: []string{"broken profile"},
		}}}, "machine Box warning machines"},
		{"full access", fakeGateway{status: protocol.Status{Version: "1", Model: operator}, nodes: limited(protocol.Enforcement{Mode: "full"})}, "machine Box warning limits"},
		{"limits that do not hold", fakeGateway{status: protocol.Status{Version: "1", Model: operator}, nodes: limited(protocol.Enforcement{Mode: "read-only", Summary: "partly", Checks: tcp})}, "machine Box warning machines"},
		{"a node of root", fakeGateway{status: protocol.Status{Version: "1", Model: operator}, nodes: limited(protocol.Enforcement{Mode: "read-only", Summary: "contained", Checks: tcp[:1], Warnings: []string{"the node runs as root"}})}, "machine Box warning machines"},
		{"an offline machine", fakeGateway{status: protocol.Status{Version: "1", Model: operator}, nodes: append(online, protocol.NodeInfo{ID: "nas"})}, "machine nas warning machines"},
		{"a server that fails", fakeGateway{status: protocol.Status{Version: "1", Model: operator}, nodes: online, mcp: []protocol.ServerStatus{
			{Name: "files", State: protocol.ServerReady, Spec: protocol.ServerSpec{Command: "x"}}, {Name: "time", State: protocol.ServerFailed, Error: "exit code 1"},
		}}, "MCP server time warning "},
		{"a wrong key", fakeGateway{status: protocol.Status{Version: "1", Model: protocol.ModelRef{Provider: "openai", ID: "m"}}, nodes: online, test: protocol.ModelsTestResult{Message: "the key was refused"}}, "model bad model"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var problems []string
			for _, f := range CheckGateway(t.Context(), c.patient, Options{URL: "ws://here", Version: "1"}) {
				if f.State != OK {
					problems = append(problems, f.Check+" "+f.State+" "+string(f.Action))
					if f.Fix == "" {
						t.Errorf("%s has no fix", f.Check)
					}
				}
			}
			if got := strings.Join(problems, "; "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTheNetworkOfServersIsFound(t *testing.T) {
	t.Parallel()
	p := fakeGateway{mcp: []protocol.ServerStatus{{Name: "files", State: protocol.ServerReady, Spec: protocol.ServerSpec{Command: "x", Network: protocol.ServerNetworkNo}}}}
	all := CheckGateway(t.Context(), p, Options{})
	if want := (Finding{Check: "MCP server files", State: OK, Found: "ready, no network"}); !slices.Contains(all, want) {
		t.Errorf("got %+v, want among them %+v", all, want)
	}
}

func TestADataFolderThatCannotBeWrittenIsFound(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	dir := t.TempDir()
	if f := CheckHome(filepath.Join(dir, "data"))[0]; f.State != OK {
		t.Errorf("a new folder: got %+v, want OK", f)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f := CheckHome(filepath.Join(file, "data"))[0]; f.State != Bad || f.Fix == "" {
		t.Errorf("a folder in a file: %+v", f)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "data", ".doctor-*")); len(left) > 0 {
		t.Errorf("it left %q", left)
	}
}

func TestAMachineIsDescribedAsOnItsPage(t *testing.T) {
	t.Parallel()
	p := fakeGateway{nodes: []protocol.NodeInfo{{
		ID: "a1b2", Name: "Box", Online: true, Tools: []string{"Bash"},
		Host: &protocol.HostInfo{Enforcement: &protocol.Enforcement{
			Mode: "read-only", Network: "allowed", Summary: "contained",
			Checks:   []protocol.EnforcedCheck{{ID: "fs.write.outside", Enforced: true}, {ID: "net.tcp", Why: "as set"}},
			Warnings: []string{"commands start later"},
		}},
	}}}
	for _, f := range CheckGateway(t.Context(), p, Options{}) {
		if f.Check != "machine Box" {
			continue
		}
		want := Finding{
			Check: "machine Box", State: Note,
			Found:   "online, 1 tool. Commands here cannot change files and can use the network. Commands start later.",
			Details: "Commands can write only in the workspace and the allowed folders.\nCommands can use the network.",
		}
		if f != want {
			t.Errorf("got %+v, want %+v", f, want)
		}
		return
	}
	t.Error("the machine is not among the findings")
}
