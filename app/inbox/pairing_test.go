package inbox

import (
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/gateway/protocol"
)

func wantsToPair(id protocol.QuestionID) protocol.Question {
	return protocol.Question{
		ID: id, Kind: protocol.AskPair, CreatedAt: atNoon(0), ExpiresAt: atNoon(time.Minute), Pairing: &protocol.PairingSubject{
			Invite: "i", Words: []string{"cobalt", "otter"},
			Device: protocol.Device{Name: "tower", Hostname: "vm", Role: protocol.RoleNode, OS: "Debian 12", Address: "10.0.0.9"},
		},
	}
}

func TestARequestIsAllowedOnlyAfterItWasVisible(t *testing.T) {
	pagetest.Start(t, style.Light)
	var answers []string
	l := NewCards(host.Env{Feed: feed.New()}, protocol.AskPair)
	l.answer = func(list []protocol.Question, _ protocol.QuestionAnswerParams) {
		answers = append(answers, string(list[0].ID))
	}
	pagetest.Window(t, l.Box, 480, 400)
	show := func(list ...protocol.Question) {
		l.Show(feed.View{Questions: feed.Questions{Pending: list}}, pagetest.Noon)
	}
	show(wantsToPair("r"))
	pagetest.Shows(t, l.Box, "Pair “tower”?", "It wants to be a machine that the agent can use.", "Debian 12 · 10.0.0.9 · computer name vm", "cobalt-otter", "1:00 left")
	test.Tap(pagetest.Button(t, l.Box, "Allow in 2 s"))
	l.Tick(pagetest.Noon.Add(1500 * time.Millisecond))
	test.Tap(pagetest.Button(t, l.Box, "Allow in 1 s"))
	if answers != nil {
		t.Fatalf("answers at once: got %v, want none", answers)
	}
	l.Tick(pagetest.Noon.Add(2 * time.Second))
	pagetest.Shows(t, l.Box, "0:58 left")
	test.Tap(pagetest.Button(t, l.Box, "Allow"))
	if len(answers) != 1 || answers[0] != "r" {
		t.Errorf("answers: got %v, want one for r", answers)
	}
	allow := pagetest.Button(t, l.Box, "Allow")
	show(wantsToPair("r"), wantsToPair("s"))
	if pagetest.Button(t, l.Box, "Allow") != allow {
		t.Error("a second request made the first one new")
	}
	show()
	if n := len(l.Box.Objects); n != 0 {
		t.Errorf("cards without a request: got %d, want 0", n)
	}
}
