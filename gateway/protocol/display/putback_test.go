package display

import (
	"testing"

	"fairlead/gateway/protocol"
)

func TestKeepQuestionIsWordedForPeople(t *testing.T) {
	t.Parallel()
	args, err := protocol.Marshal(protocol.KeepArgs{ID: "7", Question: "“make” created /w/.husky/pre-commit", Paths: []string{"/w/.husky/pre-commit", "/w/.envrc"}})
	if err != nil {
		t.Fatal(err)
	}
	a := protocol.Question{Kind: protocol.AskKeep, Tool: protocol.KeepTool, Node: "box", Args: args, Why: "“make” created /w/.husky/pre-commit", Floor: true}
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
	a.Kind = protocol.KindOfCall(protocol.KeepTool, "notes", nil)
	if IsKeep(a) {
		t.Error("a server's tool of the same name is taken for the question")
	}
}

func TestNotesOfACommandAreWordedForPeople(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ note, want string }{
		{"", ""},
		{".envrc is protected, because it starts programs later" + protocol.NoteAskFor + `[".envrc"]` + protocol.NoteAskForEnd, ".envrc is protected, because it starts programs later. The agent can ask you for it."},
		{
			"a, b, c and 1 more are protected, because they start programs later" + protocol.NoteAskFor + `["a", "b", "c"]` + protocol.NoteAskForEnd +
				" The command changed protected files without permission: .envrc was changed. This was undone; what it wrote is in the trash. " + protocol.NoteMayAsk,
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
			t.Errorf("%q: got the note %q, want nothing", text, got)
		}
	}
}

func TestFilesThatAreNotNamedAreCounted(t *testing.T) {
	t.Parallel()
	args, err := protocol.Marshal(protocol.KeepArgs{Paths: []string{"/w/.envrc", "/w/.npmrc"}, More: 7})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := CallText(protocol.Question{Kind: protocol.AskKeep, Tool: protocol.KeepTool, Args: args}, "Box"); got != "Keep .envrc and 8 more" {
		t.Errorf(`in one line: got %q; want "Keep .envrc and 8 more"`, got)
	}
}
