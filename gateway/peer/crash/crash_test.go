package crash

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

func TestPanicIsAnErrorAndIsLogged(t *testing.T) {
	before := slog.Default()
	defer slog.SetDefault(before)
	var logged bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
	call := func(f func()) (err error) {
		defer Recover(&err, "fs_read", "call", "c1")
		f()
		return errors.New("its own")
	}
	if err := call(func() {}); err.Error() != "its own" || logged.Len() > 0 {
		t.Errorf(`without a panic: got %v, log %q; want the error "its own" and Len at most 0`, err, logged.String())
	}
	for _, value := range []any{"secret", errors.New("secret"), 7} {
		logged.Reset()
		err := call(func() { panic(value) })
		if _, ok := errors.AsType[*Error](err); !ok || strings.Contains(err.Error(), "secret") {
			t.Errorf("panic(%v): got %v, want an *Error without the value", value, err)
		}
		if strings.Contains(logged.String(), "secret") {
			t.Errorf("the log has the value: %s", logged.String())
		}
		for _, want := range []string{"level=ERROR msg=Panic work=fs_read", "call=c1", "crash_test.go"} {
			if !strings.Contains(logged.String(), want) {
				t.Errorf("the log lacks %q: %s", want, logged.String())
			}
		}
	}
	if err := Run("notify", func() { panic(nil) }); err == nil {
		t.Error("Run: got no error for a panic")
	}
}
