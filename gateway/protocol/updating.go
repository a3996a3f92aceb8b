package protocol

import (
	"encoding/json"
	"errors"
)

// Updating is in the details of the [ErrUnavailable] that answers every request while a gateway brings its store up to date after an update of the
// program (extension). Percent is that of the step, -1 when it is not known.
type Updating struct {
	Step    int `json:"step"`
	Steps   int `json:"steps"`
	Percent int `json:"percent"`
}

// UpdatingOf reports whether err says so.
func UpdatingOf(err error) (Updating, bool) {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != CodeUnavailable || len(e.Details) == 0 {
		return Updating{}, false
	}
	var d struct {
		Updating *Updating `json:"updating"`
	}
	if json.Unmarshal(e.Details, &d) != nil || d.Updating == nil {
		return Updating{}, false
	}
	return *d.Updating, true
}

// Error is what a peer is told; text is how far it is, in words.
func (u Updating) Error(text string) *Error {
	return ErrUnavailable.With("the store is being updated: " + text + ". Try again in a moment; nothing is lost").
		WithDetails(map[string]Updating{"updating": u})
}
