package registry

import (
	"errors"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestReserveLeavesRoomForTheChat(t *testing.T) {
	url, _ := server(t)
	r := New(settings{keys: map[string]string{"anthropic": "k"}, urls: map[string]string{"anthropic": url}}, nil)
	opus := protocol.ModelRef{Provider: "anthropic", ID: "claude-opus-4-6"}
	if err := r.CheckReserve(t.Context(), opus, 600_000); !errors.Is(err, protocol.ErrBadRequest) || !strings.Contains(err.Error(), "at most 500000") {
		t.Errorf("CheckReserve(600000): got %v, want the limit 500000", err)
	}
	for name, err := range map[string]error{
		"half of the window": r.CheckReserve(t.Context(), opus, 500_000),
		"unknown window":     r.CheckReserve(t.Context(), protocol.ModelRef{Provider: "anthropic", ID: "mine"}, 600_000),
		"unknown provider":   r.CheckReserve(t.Context(), protocol.ModelRef{Provider: "x", ID: "y"}, 600_000),
	} {
		if err != nil {
			t.Errorf("CheckReserve, %s: got %v, want no error", name, err)
		}
	}
}
