package llmtest

import (
	"encoding/json"
	"errors"
	"testing"
)

// SameJSON compares two texts of JSON, whatever their layout.
func SameJSON(t *testing.T, got, want string) {
	t.Helper()
	var a, b any
	if err := errors.Join(json.Unmarshal([]byte(got), &a), json.Unmarshal([]byte(want), &b)); err != nil {
		t.Fatal(err)
	}
	x, _ := json.MarshalIndent(a, "", " ")
	y, _ := json.MarshalIndent(b, "", " ")
	if string(x) != string(y) {
		t.Errorf("got %s, want %s", x, y)
	}
}
