package display

import (
	"encoding/json"
	"testing"

	"fairlead/gateway/protocol"
)

func TestTypedTextIsShownInsteadOfItsArguments(t *testing.T) {
	q := protocol.Question{
		Kind: protocol.AskType, Tool: "Process", Node: "vm", Effect: protocol.EffectExec,
		Args:    json.RawMessage(`{"action":"submit","sessionId":"44a44f3d","data":"import shutil"}`),
		Preview: &protocol.CallPreview{Input: &protocol.CommandInput{ID: "44a44f3d", Command: "python3 -q -i", Text: "import shutil\n"}},
	}
	if got, want := Subject(q), "import shutil"; got != want {
		t.Errorf("subject: got %q, want %q", got, want)
	}
	if got, want := OtherArguments(q), "into: python3 -q -i"; got != want {
		t.Errorf("beside it: got %q, want %q", got, want)
	}
	if got, where := CallText(q, "Tower"); got != "Type import shutil" || where != "on Tower" {
		t.Errorf("in one line: got %q %q, want what is typed on Tower", got, where)
	}
	q.Preview = nil
	if got := Subject(q); got != "action: submit\nsessionId: 44a44f3d\ndata: import shutil" {
		t.Errorf("without a preview: got %q, want all arguments", got)
	}
}

func TestContinuingHasAnswersOfItsOwn(t *testing.T) {
	if allow, deny := AnswerWords(protocol.Question{Kind: protocol.AskContinue}); allow != "Continue" || deny != "Stop" {
		t.Errorf("got %q and %q, want Continue and Stop", allow, deny)
	}
}
