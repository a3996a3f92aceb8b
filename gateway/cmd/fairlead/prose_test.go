package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// joined are texts in which a joiner is part of the spelling.
var joined = []string{"👨\u200d👩\u200d👧", "👩🏽\u200d💻", "❤\ufe0f\u200d🔥", "🧑\u200d⚕\ufe0f", "🏴\u200d☠\ufe0f", "می\u200cخواهم", "क्\u200dष", "ශ්\u200dරී"}

// printed returns s as an output prints it.
func printed(t *testing.T, s string) string {
	t.Helper()
	var to bytes.Buffer
	o := newOutput(&to)
	_, err := io.WriteString(o, s)
	if err = errors.Join(err, o.close()); err != nil {
		t.Fatal(err)
	}
	return to.String()
}

func TestJoinersStayWhereTheyJoin(t *testing.T) {
	for _, s := range joined {
		if got := printed(t, "a "+s+" b"); got != "a "+s+" b" {
			t.Errorf("%+q became %+q, want %q", s, got, "a "+s+" b")
		}
	}
	for s, want := range map[string]string{
		"rm\u200d -rf": "rm\uFFFD -rf", "a\u200cb": "a\uFFFDb", "\u200d": "\uFFFD", "👨\u200d": "👨\uFFFD", "👨\u200d\u200d👩": "👨\uFFFD\uFFFD👩", "👨\u200dx": "👨\uFFFDx",
		"\u200d👨": "\uFFFD👨", "م\u200cx": "م\uFFFDx", "©\u200d\u202eevil\x1b[2J\r\n": "©\uFFFD\uFFFDevil\uFFFD[2J\n", "1\u200b2": "1\uFFFD2", "\xff": "\uFFFD",
	} {
		if got := printed(t, s); got != want {
			t.Errorf("%+q became %+q, want %+q", s, got, want)
		}
	}
}

// TestAStreamedTextKeepsItsJoiners: a piece may end before, or after, a joiner.
func TestAStreamedTextKeepsItsJoiners(t *testing.T) {
	whole := strings.Join(joined, " ")
	var out, note bytes.Buffer
	term := &terminal{out: newOutput(&out), err: &note, in: newLines(strings.NewReader(""))}
	at := 0
	for _, r := range whole + "\u200d" {
		term.delta(protocol.Delta{Step: 1, Offset: at, Text: string(r)})
		at += len(string(r))
	}
	term.message(protocol.Message{Role: protocol.RoleAssistant, Content: protocol.Content{protocol.Text(whole + "\u200d")}})
	if out.String() != whole+"\uFFFD\n" {
		t.Errorf("got %+q, want %v", out.String(), whole+"\uFFFD\n")
	}
}

// TestACommandThatIsAskedAboutShowsItsJoiners checks that nothing on which a person decides can
// hide in zero-width characters.
func TestACommandThatIsAskedAboutShowsItsJoiners(t *testing.T) {
	for _, s := range joined {
		args, err := json.Marshal(map[string]string{"command": "touch " + s})
		if err != nil {
			t.Fatal(err)
		}
		if box := questionBox(protocol.Question{Tool: "Bash", Args: args}, ""); strings.ContainsAny(box, "\u200c\u200d") || !strings.Contains(box, "\uFFFD") {
			t.Errorf(`got %+q; want no "\u200c\u200d" and "\uFFFD" in it`, box)
		}
	}
}
