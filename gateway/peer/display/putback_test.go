package display

import (
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestKeepQuestionIsWordedForPeople(t *testing.T) {
	t.Parallel()
	args, err := protocol.Marshal(protocol.KeepArgs{ID: "7", Question: "“make” created /w/.husky/pre-commit", Paths: []string{"/w/.husky/pre-commit", "/w/.envrc"}})
	if err != nil {
		t.Fatal(err)
	}
	a := protocol.Question{Kind: protocol.AskCall, Tool: protocol.KeepTool, Node: "box", Args: args, Why: "“make” created /w/.husky/pre-commit", Floor: true}
	what, where := CallText(a, "Box")
	allow, deny := AnswerWords(a)
	for _, c := range [][2]string{
		{QuestionTitle(a, "Box"), "Keep what a command changed?"},
		{Subject(a), "“make” created /w/.husky/pre-commit"},
		{Why(a), "“make” created /w/.husky/pre-commit"},
		{OtherArguments(a), ""},
		{what, "Keep pre-commit and 1 more"},
		{where, "on Box"},
		{allow, "Keep"},
		{deny, "Discard"},
	} {
		if c[0] != c[1] {
			t.Errorf("got %q, want %q", c[0], c[1])
		}
	}
	a.ServerTool = &protocol.ApprovalTool{Server: "notes", Name: protocol.KeepTool}
	if IsKeep(a) {
		t.Error("a server's tool of the same name is taken for the question")
	}
}

func TestKeepQuestionNamesTheFileOfALongPath(t *testing.T) {
	t.Parallel()
	b := protocol.PutBack{Command: "make", Changes: []protocol.ProtectedChange{{Path: "/home/ann/" + strings.Repeat("deep/", 20) + ".husky/pre-commit", Kind: protocol.ProtectedCreated}}}
	got := KeepQuestion(b)
	if !strings.HasPrefix(got, "“make” created …/deep/") || !strings.HasSuffix(got, "/.husky/pre-commit") {
		t.Errorf("got %q", got)
	}
}

func TestNotesOfACommandAreWordedForPeople(t *testing.T) {
	t.Parallel()
	changed := []protocol.ProtectedChange{{Path: ".envrc", Kind: protocol.ProtectedChanged}}
	for _, c := range []struct{ note, want string }{
		{"", ""},
		{ProtectedNote([]string{".envrc"}), ".envrc is protected, because it starts programs later. The agent can ask you for it."},
		{
			ProtectedNote([]string{"a", "b", "c", "d"}) + " " + PutBack(changed),
			"a, b, c and 1 more are protected, because they start programs later. The agent can ask you for it. " +
				"The command changed protected files without permission: .envrc was changed. This was undone; what it wrote is in the trash. You are asked whether to keep it.",
		},
		{"1 process that the command left running was ended.", "1 process that the command left running was ended."},
	} {
		result, err := protocol.Marshal(map[string]string{"note": c.note, "output": "x"})
		if err != nil {
			t.Fatal(err)
		}
		if got := ResultNote(string(result)); got != c.want {
			t.Errorf("%q: got %q, want %q", c.note, got, c.want)
		}
	}
	for _, text := range []string{"", "plain output", `{"note":`, `[1]`} {
		if got := ResultNote(text); got != "" {
			t.Errorf("%q: got the note %q", text, got)
		}
	}
}

func TestKeepQuestionCountsFilesThatItDoesNotName(t *testing.T) {
	t.Parallel()
	b := protocol.PutBack{Command: "make", Changes: []protocol.ProtectedChange{{Path: "/w/.envrc", Kind: protocol.ProtectedCreated}, {Path: "/w/.npmrc", Kind: protocol.ProtectedCreated}}}
	for more, want := range map[int]string{0: "“make” created /w/.envrc, and 1 more file", 7: "“make” created /w/.envrc, and 8 more files: the answer is for all of them"} {
		b.More = more
		if got := KeepQuestion(b); got != want {
			t.Errorf("%d more: got %q, want %q", more, got, want)
		}
	}
	args, err := protocol.Marshal(protocol.KeepArgs{Paths: []string{"/w/.envrc", "/w/.npmrc"}, More: 7})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := CallText(protocol.Question{Tool: protocol.KeepTool, Args: args}, "Box"); got != "Keep .envrc and 8 more" {
		t.Errorf("in one line: got %q", got)
	}
}

func TestFilesThatAreOpenToOthersAreDescribed(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]Exposed{
		"": {},
		"This command made /w/a, /w/b, /w/c and 1 more set-uid: whoever starts it has the rights of its owner or group. “chmod ug-s” undoes that.": {SetUID: []string{"/w/a", "/w/b", "/w/c", "/w/d"}},
		"This command made /w/id_rsa readable for every user of this machine. “chmod go-rwx” undoes that.":                                         {Readable: []string{"/w/id_rsa"}},
	} {
		if got := e.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
