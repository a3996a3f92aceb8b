package session

import (
	"encoding/json"
	"testing"

	"fairlead/gateway/protocol"
)

func TestQuestionOverAChannelNamesToolAndArguments(t *testing.T) {
	for want, a := range map[string]protocol.Question{
		"Paused: everything wants to use “echo”\nmessage: hi\nReason: Tools of “everything” need your approval. Reply yes or no.": {
			Node: "everything", Tool: "echo", Args: json.RawMessage(`{"message":"hi"}`), Why: "Tools of “everything” need your approval",
			ServerTool: &protocol.QuestionTool{Server: "everything", Name: "echo"},
		},
		"Paused: Fairlead wants to run a command on nas\nmake\nbackground: true\nReason: Commands need your approval. Reply yes or no.": {
			Node: "nas", Tool: "Bash", Effect: protocol.EffectExec, Args: json.RawMessage(`{"command":"make","background":true}`), Why: "Commands need your approval",
		},
		"Paused: it took long. Continue? Reply yes or no.": {Kind: protocol.AskContinue, Why: "it took long"},
	} {
		if got := questionText(a); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}
