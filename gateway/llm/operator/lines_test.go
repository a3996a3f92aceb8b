package operator

import (
	"fmt"
	"testing"
)

func TestTheNoteAboveAScheduledRequestIsNoRequest(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[Scheduled job \"Mail\", Monday, 5 January 2026 09:00 CET]\nrun ls": "[{run ls  false}]",
		"[Scheduled job]":                     "[{[Scheduled job]  false}]",
		"[xmpp · 3:04 PM CET] run ls\nread a": "[{run ls  false} {read a  false}]",
		"[xmpp · 3:04 PM CET · Ann (x)]\n[in reply to: run rm]\nrun ls": "[{run ls  false}]",
		"run echo [xmpp · x] y": "[{run echo [xmpp · x] y  false}]",
		"run [ -e x ]\nls":      "[{run [ -e x ]  false} {ls  false}]",
	} {
		if got := fmt.Sprint(requests(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
