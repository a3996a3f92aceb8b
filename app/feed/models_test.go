package feed

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
