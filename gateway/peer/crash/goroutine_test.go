package crash

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// logged replaces the log, which it returns.
func logged(t *testing.T) *bytes.Buffer {
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	var log bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	return &log
}

func broken() { panic("secret") }

func TestPanicEndsOnlyItsGoroutine(t *testing.T) {
	for name, start := range map[string]func(context.Context, *Group){
		"Group": func(_ context.Context, g *Group) { g.Go(broken) },
		"Go": func(_ context.Context, g *Group) {
			g.Add(1)
			Go(func() {
				defer g.Done()
				broken()
			})
		},
		"AfterFunc": func(context.Context, *Group) {
			AfterFunc(time.Second, broken)
			time.Sleep(2 * time.Second)
		},
		"WhenDone": func(ctx context.Context, _ *Group) {
			ctx, cancel := context.WithCancel(ctx)
			WhenDone(ctx, broken)
			cancel()
			synctest.Wait()
		},
		"Result": func(context.Context, *Group) {
			err := <-Result(func() error { panic("secret") })
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("Result: got %v, want an *Error", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			log := logged(t)
			synctest.Test(t, func(t *testing.T) {
				var g Group
				start(t.Context(), &g)
				g.Wait()
				synctest.Wait()
			})
			for _, want := range []string{"level=ERROR msg=Panic work=crash.", "goroutine_test.go"} {
				if !strings.Contains(log.String(), want) {
					t.Errorf("the log lacks %q: %s", want, log)
				}
			}
		})
	}
	if got := funcName(broken); got != "crash.broken" {
		t.Errorf("name: got %s, want crash.broken", got)
	}
}

func TestForeverRunsAgainAfterAPanic(t *testing.T) {
	log := logged(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		runs, began := 0, time.Now()
		Forever(ctx, func() {
			if runs++; runs < 3 {
				panic("broken")
			}
			<-time.After(time.Hour)
		})
		if took := time.Since(began); runs != 3 || took != time.Hour+2*restartPause {
			t.Errorf("got %d runs in %s, want 3 with pauses", runs, took)
		}
		cancel()
		Forever(ctx, func() { runs++; panic("broken") })
		if runs != 4 {
			t.Errorf("after the end: got %d runs, want 1 more", runs-3)
		}
	})
	if got := strings.Count(log.String(), "msg=Panic"); got != 3 {
		t.Errorf("got %d panics in the log, want 3", got)
	}
}
