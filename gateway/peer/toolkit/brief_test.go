package toolkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"fairlead/gateway/peer/toolkit"
)

func TestAnErrorDoesNotRepeatAMegabyte(t *testing.T) {
	t.Parallel()
	open := toolkit.Define("Open", "", toolkit.Traits{}, func(_ context.Context, _ struct{}, in nested) (nested, error) {
		return in, fmt.Errorf("open %s: %w", in.Path, fs.ErrNotExist)
	})
	long := strings.Repeat("é", 1<<20)
	right, wrong := json.RawMessage(`{"path":"`+long+`"}`), json.RawMessage(`{"path":"a","limit":"`+long+`"}`)
	_, err := open.Call(t.Context(), struct{}{}, right)
	if !errors.Is(err, fs.ErrNotExist) || len(err.Error()) > 4100 || !strings.HasPrefix(err.Error(), "open éé") || !strings.HasSuffix(err.Error(), "é: file does not exist") {
		t.Errorf(`got %.100s; want error ErrNotExist, the error of length at most 4100, an error that begins with "open éé" and an error that ends with "é: file does not exist"`, err)
	}
	_, err = open.Call(t.Context(), struct{}{}, wrong)
	for _, err := range []error{err, toolkit.Validate(open.Spec.InputSchema, wrong)} {
		var bad *toolkit.InputError
		if !errors.As(err, &bad) || len(err.Error()) > 4100 || !strings.HasPrefix(err.Error(), "Invalid arguments: ") {
			t.Errorf(`got %.100s; want an error of type *toolkit.InputError, the error of length at most 4100 and an error that begins with "Invalid arguments: "`, err)
		}
	}
}
