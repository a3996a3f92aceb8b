package main

import (
	"errors"
	"testing"

	"fairlead/gateway/protocol"
)

func TestAnEmptyIDNamesNoQuestion(t *testing.T) {
	open := []protocol.Approval{{ID: "3f00"}}
	if a, err := questionNamed(open, "", false); !errors.Is(err, errNoID) {
		t.Errorf("%+v %v", a, err)
	}
	if a, err := questionNamed(open, "3f", false); err != nil || a.ID != "3f00" {
		t.Errorf("%+v %v", a, err)
	}
}
