package main

import (
	"errors"
	"testing"

	"fairlead/gateway/protocol"
)

func TestAnEmptyIDNamesNoQuestion(t *testing.T) {
	t.Parallel()
	open := []protocol.Question{{ID: "3f00"}}
	if a, err := questionNamed(open, "", false); !errors.Is(err, errNoID) {
		t.Errorf("got %+v, %v, want %v", a, err, errNoID)
	}
	if a, err := questionNamed(open, "3f", false); err != nil || a.ID != "3f00" {
		t.Errorf("got %+v, %v, want the approval 3f00", a, err)
	}
}
