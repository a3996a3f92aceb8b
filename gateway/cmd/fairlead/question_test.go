package main

import (
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestQuestionShowsMachineDisplayName(t *testing.T) {
	host := &protocol.HostInfo{OS: "Debian", Address: "192.0.2.7"}
	for _, c := range []struct {
		host       *protocol.HostInfo
		name, want string
	}{
		{host, "The big one", "machine   The big one (nas, Debian, 192.0.2.7)\n"},
		{host, "", "machine   nas (Debian, 192.0.2.7)\n"},
		{nil, "The big one", "machine   The big one (nas)\n"},
		{nil, "nas", "machine   nas\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if box := questionBox(protocol.Question{Node: "nas", Host: c.host}, c.name); !strings.Contains(box, c.want) {
				t.Errorf("%q: got %s; want box with %v", c.want, box, c.want)
			}
		})
	}
}

func TestQuestionNamesAToolOfTheGatewayThatIsAboutNoFile(t *testing.T) {
	for tool, want := range map[string]string{"SessionsList": "┌ Fairlead wants to use SessionsList\n", "ReadFile": "┌ Fairlead wants to read a file\n"} {
		t.Run(tool, func(t *testing.T) {
			if box := questionBox(protocol.Question{Node: "gsv", Tool: tool, Effect: protocol.EffectRead}, ""); !strings.HasPrefix(box, want) {
				t.Errorf("%s: got %s; want a text that begins with %v", tool, box, want)
			}
		})
	}
}

func TestAQuestionDescribesTheSandboxInPlainWords(t *testing.T) {
	at := time.Date(2026, 1, 2, 10, 4, 0, 0, time.Local).UnixMilli()
	q := protocol.Question{Node: "nas", Host: &protocol.HostInfo{Workspace: "/srv/app"}, Sandbox: "files workspace-write, network blocked"}
	for want, change := range map[string]func(*protocol.Question){
		"sandbox   files: changes in /srv/app only · network: off · enforced\n": func(*protocol.Question) {},
		"shown     not yet\n": func(a *protocol.Question) { a.Unseen = 1 },
		"shown     in a window at 10:04\n": func(a *protocol.Question) {
			a.Shown, a.SurfaceShown, a.ShownAt, a.Unseen = true, protocol.SurfaceWindow, at, 1
		},
	} {
		a := q
		change(&a)
		if box := questionBox(a, ""); !strings.Contains(box, want) {
			t.Errorf("%q: got %s; want box with %v", want, box, want)
		}
	}
	if box := questionBox(q, ""); strings.Contains(box, "shown") {
		t.Errorf(`got %v; want no "shown"`, box)
	}
}

func TestCallLineShowsMachineDisplayName(t *testing.T) {
	var out strings.Builder
	term := &terminal{out: &out, in: newLines(strings.NewReader("")), names: namesOf([]protocol.NodeInfo{{ID: "nas", Name: "The big one"}, {ID: "box"}})}
	for _, id := range []protocol.NodeID{"nas", "box"} {
		term.call(protocol.CallInfo{CallID: protocol.CallID(id), Node: id, Tool: "Bash", Args: []byte(`{"command":"ls"}`), State: protocol.CallRunning})
	}
	if want := "▸ Bash on The big one  ls\n▸ Bash on box  ls\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestQuestionNamesToolTargetAndArguments(t *testing.T) {
	for name, c := range map[string]struct {
		node protocol.NodeID
		tool string
		args string
		want []string
	}{
		"program's command": {"box", "command", `{"command":"uname -r","idle_timeout":5}`, []string{"tool      command\n", "machine   box\n", "what      uname -r\n", "with      idle_timeout: 5\n"}},
		"program's file":    {"box", "fs_delete", `{"path":"/srv/a","recursive":true}`, []string{"tool      fs_delete\n", "what      /srv/a\n", "with      recursive: true\n"}},
		"program's search":  {"box", "fs_glob", `{"path":"/srv","pattern":"*.go"}`, []string{"what      *.go\n", "with      path: /srv\n"}},
		"agent's":           {"box", "Bash", `{"command":"ls","workdir":"/srv","timeout":9}`, []string{"tool      Bash\n", "what      ls\n", "with      workdir: /srv\n│           timeout: 9\n"}},
		"gateway's":         {"gsv", "Cron", `{"action":"list"}`, []string{"tool      Cron\n", "machine   the gateway itself\n", "what      action: list\n"}},
		"server's":          {"notes", "add", `{"title":"x"}`, []string{"tool      add\n", "machine   notes\n", "what      title: x\n"}},
		"facts":             {"box", "net_dns", `{}`, []string{"tool      net_dns\n", "machine   box\n", "what      no arguments\n"}},
	} {
		box := questionBox(protocol.Question{Node: c.node, Tool: c.tool, Args: []byte(c.args)}, "")
		for _, want := range c.want {
			if !strings.Contains(box, want) {
				t.Errorf("%s: the question lacks %q:\n%s", name, want, box)
			}
		}
	}
}

func TestQuestionShowsTheRuleOfEachScope(t *testing.T) {
	box := questionBox(protocol.Question{Node: "box", Tool: "Bash", Args: []byte(`{"command":"uname -r"}`), Choices: []string{"once", "folder", "always"}, Offers: []protocol.RuleOffer{{
		Words: "Allow uname -r", As: map[string]protocol.RuleOffer{"folder": {Words: "Allow uname -r in /root and below"}, "always": {Words: "Allow uname -r"}},
	}}}, "")
	if want := "offer 0   folder: Allow uname -r in /root and below\n│           always: Allow uname -r\n"; !strings.Contains(box, want) {
		t.Errorf("the question lacks %q:\n%s", want, box)
	}
}
