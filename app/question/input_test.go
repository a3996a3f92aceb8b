package question

import (
	"strings"
	"testing"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

func TestChoicesOfTheSameTitleDiffer(t *testing.T) {
	f := protocol.Field{Choices: []protocol.Choice{{Value: "a", Title: "Same"}, {Value: "b", Title: "Same"}, {Value: NoAnswer}}}
	if got, want := strings.Join(ChoiceTitles(f), "|"), "Same|Same (2)|No answer (2)"; got != want {
		t.Errorf("Join: got %q, want %q", got, want)
	}
}

func TestAQuestionOfAServerSaysWhoAsksDuringWhichCall(t *testing.T) {
	q := protocol.Question{Kind: protocol.AskInput, CallID: "c", Input: &protocol.InputSubject{Server: "docs"}}
	if got, want := InputSource(feed.View{}, q), "“docs” needs an answer."; got != want {
		t.Errorf("InputSource: got %q, want %q", got, want)
	}
	v := feed.View{Calls: []protocol.CallInfo{{CallID: "c", Tool: "docs__find", SessionKey: "k"}}, Sessions: feed.Sessions{List: []protocol.SessionEntry{{SessionKey: "k", Title: "Plans"}}}}
	if got, want := InputSource(v, q), "“docs” needs an answer for “find” (chat “Plans”)."; got != want {
		t.Errorf("InputSource: got %q, want %q", got, want)
	}
}
