package transcript

import (
	"testing"

	"fyne.io/fyne/v2/test"
)

func TestScreenReadersGetSenderAndText(t *testing.T) {
	test.NewTempApp(t)
	m, c := NewMessageView(), NewCallCard()
	m.Set(Message{Sender: "You", Time: "9:05", FullTime: "Saturday, 9:05", Text: "Copy **all** photos"})
	c.Set(Call{Verb: "Run", Machine: "nas", Argument: "ls photos", State: CallFailed, Time: "2 s"})
	if got, want := m.AccessibilityLabel(), "You, Saturday, 9:05, Copy all photos"; got != want {
		t.Errorf("a message: got %q, want %q", got, want)
	}
	for _, got := range []string{c.AccessibilityLabel(), c.head.AccessibilityLabel()} {
		if want := "Run, on nas, ls photos, failed, 2 s"; got != want {
			t.Errorf("a call: got %q, want %q", got, want)
		}
	}
}
