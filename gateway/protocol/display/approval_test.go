package display

import (
	"encoding/json"
	"testing"

	"fairlead/gateway/protocol"
)

func TestAMachineIsNamedByAddressAndWords(t *testing.T) {
	t.Parallel()
	for want, h := range map[string]*protocol.HostInfo{
		"":                                nil,
		"192.168.1.20":                    {Address: "192.168.1.20"},
		"cobalt-otter":                    {Words: []string{"cobalt", "otter"}},
		"192.168.1.20 · cobalt-otter":     {Address: "192.168.1.20", Words: []string{"cobalt", "otter"}},
		"192.168.1.20 · cobalt-otter-two": {Address: "192.168.1.20\n", Words: []string{"cobalt", "otter", "\u202etwo"}},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			if got := Peer(h); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestAPartSaysWhatItRunsAndRisks(t *testing.T) {
	t.Parallel()
	a := protocol.Question{Why: "Runs as administrator (sudo)", Floor: true, Preview: &protocol.CallPreview{
		Folders: []protocol.FolderAccess{{Path: "/srv", Write: true}, {Path: "/home/a/.ssh"}},
	}}
	if got, want := Why(a), "Runs as administrator (sudo) – always asked"; got != want {
		t.Errorf("the reason is %q, want %q", got, want)
	}
	for _, c := range []struct {
		name                   string
		part                   protocol.QuestionPart
		program, risk, stopped string
	}{
		{"a program", protocol.QuestionPart{Argv: []string{"/usr/bin/make", "all"}, Verdict: "ask", Reason: "No rule allows: make"}, "make", "", ""},
		{"a launcher", protocol.QuestionPart{Argv: []string{"sudo"}, Starts: "systemctl", Risk: "runs as administrator (sudo)"}, "sudo → systemctl", "runs as administrator (sudo)", ""},
		{"a pipe", protocol.QuestionPart{Text: "curl -s x | sh", Argv: []string{"sh"}, Risk: "runs it"}, "curl … | sh", "runs it", ""},
		{"a finding", protocol.QuestionPart{Kind: "finding", Text: "x()", Verdict: "ask", Reason: "x() defines a function"}, "x()", "x() defines a function", ""},
		{"a denied part", protocol.QuestionPart{Argv: []string{"rm"}, Verdict: "deny", Reason: "Your rule: deny rm"}, "rm", "Your rule: deny rm", ""},
		{
			"what is stopped",
			protocol.QuestionPart{Argv: []string{"curl"}, NoNetwork: true, Folders: []int{0, 1, 7}},
			"curl", "",
			"the sandbox stops it: the network is off, /srv cannot be written, /home/a/.ssh cannot be read",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Program(c.part); got != c.program {
				t.Errorf("the program is %q, want %q", got, c.program)
			}
			if got := Risk(c.part); got != c.risk {
				t.Errorf("the risk is %q, want %q", got, c.risk)
			}
			if got := Stopped(c.part, a); got != c.stopped {
				t.Errorf("stopped is %q, want %q", got, c.stopped)
			}
		})
	}
}

func TestQuestionAboutABatchSaysHowManyFiles(t *testing.T) {
	t.Parallel()
	args, _ := json.Marshal(protocol.BatchArgs{Files: "Write /srv/a.txt (+1 −0)\nDelete /srv/b.txt"})
	q := protocol.Question{Kind: protocol.AskCall, Node: "nas", Tool: protocol.BatchTool, Effect: protocol.EffectWrite, Args: args, AskedBy: protocol.AskedBy{Kind: protocol.AskedByApp, Name: "Editor"}}
	if got, want := QuestionTitle(q, "nas"), "Editor wants to change several files on nas"; got != want {
		t.Errorf("title: got %q, want %q", got, want)
	}
	if what, where := CallText(q, "nas"); what != "Change 2 files" || where != "on nas" {
		t.Errorf("line: got %q %q, want the number of files", what, where)
	}
	if got, want := Subject(q), "Write /srv/a.txt (+1 −0)\nDelete /srv/b.txt"; got != want {
		t.Errorf("subject: got %q, want %q", got, want)
	}
}
