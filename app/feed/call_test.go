package feed

import (
	"errors"
	"testing"
)

func TestEveryErrorIsASentence(t *testing.T) {
	for text, want := range map[string]string{"  ": "Something went wrong.", "the disk is full": "The disk is full"} {
		if got := Sentence(errors.New(text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
