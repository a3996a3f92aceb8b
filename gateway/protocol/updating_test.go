package protocol

import (
	"errors"
	"fmt"
	"testing"
)

func TestAnUpdateOfTheStoreIsKnownFromItsError(t *testing.T) {
	u := Updating{Step: 1, Steps: 2, Percent: -1}
	e := u.Error("step 1 of 2")
	raw, err := EncodeError("7", fmt.Errorf("connect: %w", e))
	if err != nil {
		t.Fatal(err)
	}
	f, err := DecodeFrame(raw)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := UpdatingOf(fmt.Errorf("dial: %w", f.Response.Error)); !ok || got != u || !f.Response.Error.Retryable {
		t.Errorf("%+v %v from %s", got, ok, raw)
	}
	for _, other := range []error{nil, errors.New("x"), ErrUnavailable, ErrUnavailable.WithDetails("x"), ErrUnavailable.WithDetails(map[string]int{"a": 1}), ErrConflict.WithDetails(map[string]any{"updating": u})} {
		if got, ok := UpdatingOf(other); ok {
			t.Errorf("%v: %+v", other, got)
		}
	}
}
