// Package crash keeps a panic in one call from ending a process that serves others. Each kind of
// work recovers in one place, where the call starts: a call then fails, and its neighbours go on.
package crash

import (
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
)

// Error is the failure of work that panicked. Its text is for people and holds nothing of the
// panic's value, which can be a secret or a path.
type Error struct{ Work string }

// Error implements error.
func (e *Error) Error() string { return "internal error in " + e.Work + "; the log has more" }

// Recover, when deferred, logs a panic with its stack and puts an *Error into err. It replaces only
// the error: the caller's other results are those at the panic, and locks are released only by
// deferred calls. Work names the call, such as the method or tool; attrs are further fields of the
// log.
func Recover(err *error, work string, attrs ...any) {
	if p := recover(); p != nil {
		log(p, work, attrs)
		*err = &Error{Work: work}
	}
}

// Call runs f and returns its error, or an *Error if it panics.
func Call(work string, f func() error, attrs ...any) (err error) {
	defer Recover(&err, work, attrs...)
	return f()
}

// Run runs f and returns an *Error if it panics. It is for work whose failure nobody waits for.
func Run(work string, f func(), attrs ...any) (err error) {
	defer Recover(&err, work, attrs...)
	f()
	return nil
}

func log(value any, work string, attrs []any) {
	cause := fmt.Sprintf("%T", value) // a value can hold arguments of the call, which are not logged
	if err, ok := value.(runtime.Error); ok {
		cause = err.Error()
	}
	all := append([]any{"work", work, "cause", cause}, attrs...)
	slog.Error("Panic", append(all, "stack", string(debug.Stack()))...)
}
