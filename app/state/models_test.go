package state

import (
	"fmt"
	"testing"

	"fairlead/gateway/protocol"
)

func TestTheModelInUseCanAlwaysBeChosen(t *testing.T) {
	now := protocol.ModelRef{Provider: "router", ID: "last"}
	var models []protocol.ModelInfo
	for i := range 300 {
		models = append(models, protocol.ModelInfo{ID: fmt.Sprint(i), Tools: true})
	}
	list := choicesOf(now, append(models, protocol.ModelInfo{ID: "last"}))
	if n := len(list); n != maxChoices+1 || list[n-1].Ref != now {
		t.Errorf("%d choices, the last %+v", n, list[n-1])
	}
}

func TestCountsOfTokensAreShort(t *testing.T) {
	for n, want := range map[int64]string{950: "950", 42_100: "42k", 999_400: "999k", 999_600: "1M", 1_048_576: "1M", 1_200_000: "1.2M"} {
		if got := Tokens(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
