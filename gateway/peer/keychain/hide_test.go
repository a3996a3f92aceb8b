package keychain

import (
	"errors"
	"fmt"
	"testing"

	"fairlead/gateway/protocol"
)

func TestErrorsDoNotRepeatASecret(t *testing.T) {
	const key = "sk-very-secret"
	refused := protocol.ErrModelAuth.With("Incorrect key: " + key + ".").WithDetails(map[string]string{"key": key})
	for _, err := range []error{refused, fmt.Errorf("ask: %w", refused)} {
		got := Hide(err, key)
		e, ok := errors.AsType[*protocol.Error](got)
		if !errors.Is(got, protocol.ErrModelAuth) || !ok || len(e.Details) > 0 {
			t.Errorf("got %v; want error ErrModelAuth, ok and Details of length at most 0", got)
		}
		if text := got.Error(); text != "Incorrect key: ***." && text != "ask: Incorrect key: ***." {
			t.Errorf(`got %v; want "Incorrect key: ***." or "ask: Incorrect key: ***."`, text)
		}
	}
	if got := Hide(errors.New("GET ?key="+key), key); got.Error() != "GET ?key=***" {
		t.Errorf(`got %v; want Error "GET ?key=***"`, got)
	}
	if got := Hide(refused, "another-secret"); got != error(refused) {
		t.Errorf("got %v, want %v", got, error(refused))
	}
	if got := Hide(refused, "key"); got != error(refused) {
		t.Errorf("got %v, want %v unchanged", got, refused)
	}
	if Hide(nil, key) != nil {
		t.Error("an error out of nothing")
	}
}
