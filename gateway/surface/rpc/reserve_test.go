package rpc

import (
	"encoding/json"
	"errors"
	"testing"

	"fairlead/gateway/protocol"
)

// The fake model has room for a reserve of 1000 tokens.
func TestReserveIsCheckedWhereverItIsSet(t *testing.T) {
	all := make(methods)
	s := newFakes().services()
	settingMethods{s.Config, s.Models, s.LocalModels, s.Nodes}.register(all)
	for params, isTooLarge := range map[string]bool{
		`{"path":"compaction.reserveTokens","value":1001}`:        true,
		`{"path":"compaction.reserveTokens","value":1000}`:        false,
		`{"path":"compaction.reserveTokens","value":null}`:        false,
		`{"path":"compaction","value":{"reserveTokens":1001}}`:    true,
		`{"path":"compaction","value":{"reserveTokens":1000}}`:    false,
		`{"path":"compaction","value":{"keepRecentTokens":5000}}`: false,
		`{"path":"timeouts.toolMs","value":60000}`:                false,
	} {
		_, err := all["config.set"](t.Context(), &request{}, json.RawMessage(params))
		if errors.Is(err, protocol.ErrBadRequest) != isTooLarge {
			t.Errorf("config.set %s: got %v, want a refusal: %v", params, err, isTooLarge)
		}
	}
}
