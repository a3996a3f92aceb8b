package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// typing is a call that types a text into a running command.
func typing(mode string, in protocol.CommandInput) Request {
	q := writeRequest("", mode)
	q.Bare, q.Effect = "Process", protocol.EffectExec
	q.Args, _ = json.Marshal(map[string]string{"action": "write", "data": in.Text})
	in.ID = "job"
	q.Preview = &protocol.CallPreview{Folder: corpusCwd, Input: &in}
	return q
}

func TestInputIsJudgedByTheProgramThatReadsIt(t *testing.T) {
	t.Parallel()
	const echo, noRM = `{"rules":[{"tool":"Bash","argv":["echo","**"],"verdict":"allow"}]}`, `{"rules":[{"tool":"Bash","argv":["rm","**"],"verdict":"deny"}]}`
	for name, c := range map[string]struct {
		rules, mode string
		in          protocol.CommandInput
		want        Verdict
	}{
		"allowed line":          {echo, "", protocol.CommandInput{Shell: "bash", Text: "echo a\n"}, Allow},
		"last word":             {echo, "", protocol.CommandInput{Shell: "bash", Text: "echo \"!$\"\n", Before: "echo 'x\";touch PWN;\"'\n"}, Ask},
		"last line":             {echo, "", protocol.CommandInput{Shell: "bash", Text: "echo !!\n"}, Ask},
		"changed line":          {echo, "", protocol.CommandInput{Shell: "bash", Text: "^a^touch b^\n"}, Ask},
		"no history":            {echo, "", protocol.CommandInput{Shell: "bash", Text: "echo done!\n"}, Allow},
		"another line":          {echo, "", protocol.CommandInput{Shell: "bash", Text: "ls\n"}, Ask},
		"two lines":             {echo, "", protocol.CommandInput{Shell: "bash", Text: "echo a\ntouch b\n"}, Ask},
		"after a line":          {echo, "", protocol.CommandInput{Shell: "bash", Text: "echo a\n", Before: "ls\n"}, Allow},
		"after a function":      {echo, "", protocol.CommandInput{Shell: "bash", Text: "echo a\n", Before: "echo() { rm x; }\n"}, Ask},
		"after an alias":        {echo, "", protocol.CommandInput{Shell: "bash", Text: "echo a\n", Before: "alias echo=rm\n"}, Ask},
		"after a new path":      {echo, "", protocol.CommandInput{Shell: "bash", Text: "echo a\n", Before: "PATH=.\n"}, Ask},
		"in an open quote":      {echo, "", protocol.CommandInput{Shell: "bash", Text: "echo a\n", Before: "echo 'x\n"}, Ask},
		"another program":       {echo, "", protocol.CommandInput{Text: "echo a\n"}, Ask},
		"trusted line":          {noRM, protocol.ModeTrust, protocol.CommandInput{Shell: "bash", Text: "make\n"}, Allow},
		"denied line":           {noRM, protocol.ModeTrust, protocol.CommandInput{Shell: "bash", Text: "rm victim\n"}, Deny},
		"denied in a program":   {noRM, protocol.ModeTrust, protocol.CommandInput{Command: "ssh h", Text: "rm victim\n"}, Deny},
		"floor":                 {`{"rules":[]}`, protocol.ModeTrust, protocol.CommandInput{Shell: "bash", Text: "cp notes.txt .git/config\n"}, Ask},
		"floor after cd":        {`{"rules":[]}`, protocol.ModeTrust, protocol.CommandInput{Shell: "bash", Text: "cp notes.txt config\n", Before: "cd .git\n"}, Ask},
		"program in trust":      {`{"rules":[]}`, protocol.ModeTrust, protocol.CommandInput{Command: "python3", Text: "1+1\n"}, Ask},
		"program, default":      {`{"default":"allow","rules":[]}`, "", protocol.CommandInput{Command: "perl", Text: "x\n"}, Ask},
		"line, default":         {`{"default":"allow","rules":[]}`, "", protocol.CommandInput{Shell: "bash", Text: "make\n"}, Allow},
		"rule about the tool":   {`{"rules":[{"tool":"Process","verdict":"allow"}]}`, "", protocol.CommandInput{Command: "python3", Text: "1+1\n"}, Allow},
		"denied tool":           {`{"rules":[{"tool":"Process","verdict":"deny"}]}`, "", protocol.CommandInput{Shell: "bash", Text: "echo a\n"}, Deny},
		"a rule for the answer": {`{"rules":[{"tool":"Process","verdict":"ask"}]}`, protocol.ModeTrust, protocol.CommandInput{Shell: "bash", Text: "echo a\n"}, Ask},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Policy{Rules: must(t, c.rules)}.Decide(typing(c.mode, c.in))
			if d.Verdict != c.want {
				t.Errorf("got %s (%s), want %s", d.Verdict, d.Reason, c.want)
			}
			if d.Verdict == Ask && !strings.Contains(d.Reason, "Types into “"+c.in.Command) {
				t.Errorf("the reason %q does not name the command %q", d.Reason, c.in.Command)
			}
		})
	}
}

func TestPermissionToTypeIsForOneCommand(t *testing.T) {
	t.Parallel()
	p := Policy{Rules: must(t, `{"rules":[{"tool":"Bash","argv":["rm","**"],"verdict":"deny"}]}`)}
	q := typing("", protocol.CommandInput{Command: "python3", Text: "1+1\n"})
	match, words, ok := q.SessionMatch()
	if !ok || !strings.Contains(words, "typed into python3") {
		t.Fatalf(`permission: got %q, %v; want ok and "typed into python3" in it`, words, ok)
	}
	q.Grants = []SessionGrant{{Node: q.Node, Tool: q.Bare, Match: match}}
	for text, want := range map[string]Verdict{"2+2\n": Allow, "rm victim\n": Deny, "cp x .git/config\n": Ask} {
		q.Preview.Input.Text = text
		if d := p.Decide(q); d.Verdict != want {
			t.Errorf("%q: got %s (%s), want %s", text, d.Verdict, d.Reason, want)
		}
	}
	q.Preview.Input.ID, q.Preview.Input.Text = "other", "2+2\n"
	if d := p.Decide(q); d.Verdict != Ask {
		t.Errorf("another command: got %s, want ask", d.Verdict)
	}
}

func TestReadingOutputNeedsNoApproval(t *testing.T) {
	t.Parallel()
	p := Policy{Rules: must(t, `{"rules":[]}`)}
	for action, want := range map[string]Verdict{"list": Allow, "poll": Allow, "log": Allow, "kill": Ask, "write": Ask, "POLL": Ask} {
		q := typing("", protocol.CommandInput{})
		q.Preview = &protocol.CallPreview{}
		q.Args, _ = json.Marshal(map[string]string{"action": action})
		if d := p.Decide(q); d.Verdict != want {
			t.Errorf("%s: got %s (%s), want %s", action, d.Verdict, d.Reason, want)
		}
	}
}
