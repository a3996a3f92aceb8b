package operator

import (
	"fmt"
	"testing"
)

func TestTheNoteAboveAScheduledRequestIsNoRequest(t *testing.T) {
	for text, want := range map[string]string{
		"[Scheduled job \"Mail\", Monday, 5 January 2026 09:00 CET]\nrun ls": "[{run ls  false}]",
		"[Scheduled job]":  "[{[Scheduled job]  false}]",
		"run [ -e x ]\nls": "[{run [ -e x ]  false} {ls  false}]",
	} {
		if got := fmt.Sprint(requests(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
