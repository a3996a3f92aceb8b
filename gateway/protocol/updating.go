package protocol

import (
	"encoding/json"
	"errors"
)

// Updating is in the details of the [ErrUnavailable] that answers every request while a gateway
// migrates its database after a program update (extension). Percent refers to the current step; -1
// means unknown.
type Updating struct {
	Step    int `json:"step"`
	Steps   int `json:"steps"`
	Percent int `json:"percent"`
}

// UpdatingOf returns the Updating in err, if there is one.
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

// Error returns the error for a peer; text describes the progress.
func (u Updating) Error(text string) *Error {
	return ErrUnavailable.With("the store is being updated: " + text + ". Try again in a moment; nothing is lost").
		WithDetails(map[string]Updating{"updating": u})
}
