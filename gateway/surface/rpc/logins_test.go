package rpc

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
)

// loginLog collects the program's log about logins, without times and levels.
type loginLog struct {
	mu    sync.Mutex // guards lines: goroutines of other tests may log, too
	lines []string
}

func (l *loginLog) Write(p []byte) (int, error) {
	if line := strings.TrimSuffix(string(p), "\n"); strings.Contains(line, "Login") {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines = append(l.lines, line)
	}
	return len(p), nil
}

func (l *loginLog) takeLines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.lines
	l.lines = nil
	return list
}

// captureLog redirects the program's log until the test ends.
func captureLog(t *testing.T) *loginLog {
	log := new(loginLog)
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}})))
	t.Cleanup(func() { slog.SetDefault(before) })
	return log
}

func TestRefusedLoginsAreLoggedOnceAndThenCounted(t *testing.T) {
	log := captureLog(t)
	synctest.Test(t, func(t *testing.T) {
		r := refusals{audit: func(_ context.Context, lines ...protocol.AuditEntry) error {
			for _, l := range lines {
				fmt.Fprintf(log, "audit: Login: %s %s", l.Verdict, l.What)
			}
			return nil
		}}
		expect := func(when string, want ...string) {
			t.Helper()
			synctest.Wait()
			if got := log.takeLines(); !slices.Equal(got, want) {
				t.Errorf("%s: got\n%s\nwant\n%s", when, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		for range 5 {
			r.add("10.0.0.7", protocol.ErrUnauthorized)
		}
		r.add("10.0.0.8", protocol.ErrUnauthorized)
		const reason = ` reason="Unauthorized: invalid or missing token"`
		expect("at once",
			`msg="Login refused" from=10.0.0.7`+reason, "audit: Login: deny refused from 10.0.0.7",
			`msg="Login refused" from=10.0.0.8`+reason, "audit: Login: deny refused from 10.0.0.8")
		time.Sleep(refusedEvery + time.Second)
		r.add("10.0.0.7", protocol.ErrUnauthorized)
		expect("after a minute", `msg="Logins refused" from=10.0.0.7 count=4`, "audit: Login: deny 4 more refused from 10.0.0.7")
		time.Sleep(refusedEvery)
		expect("after two", `msg="Logins refused" from=10.0.0.7 count=1`, "audit: Login: deny 1 more refused from 10.0.0.7")
		time.Sleep(2 * refusedEvery)
		r.add("10.0.0.7", protocol.ErrUnauthorized)
		expect("after a quiet minute", `msg="Login refused" from=10.0.0.7`+reason, "audit: Login: deny refused from 10.0.0.7")
		r.add("10.0.0.7", protocol.ErrUnauthorized)
		r.close()
		expect("at the end", `msg="Logins refused" from=10.0.0.7 count=1`, "audit: Login: deny 1 more refused from 10.0.0.7")
	})
}

func TestRefusedLoginsOfManyAddressesAreFewLines(t *testing.T) {
	log := captureLog(t)
	synctest.Test(t, func(t *testing.T) {
		r := refusals{audit: fakeAudit{}.Append}
		for i := range 10_000 {
			r.add(fmt.Sprintf("10.0.%d.%d", i/256, i%256), protocol.ErrUnauthorized)
		}
		if got, want := len(log.takeLines()), maxRefusedFrom+1; got != want {
			t.Errorf("got %d lines at once, want %d", got, want)
		}
		time.Sleep(refusedEvery)
		synctest.Wait()
		want := fmt.Sprintf(`msg="Logins refused" from="other addresses" count=%d`, 10_000-maxRefusedFrom-1)
		if got := log.takeLines(); len(got) != 1 || got[0] != want {
			t.Errorf("got %q after a minute, want %q", got, want)
		}
		r.close()
	})
}

func TestALoginWithAWrongTokenIsLoggedWithoutTheToken(t *testing.T) {
	log := captureLog(t)
	synctest.Test(t, func(t *testing.T) {
		b, stop := open(newFakes())
		defer stop()
		for range 3 {
			m, err := b.dial("stranger")
			if err != nil {
				t.Fatal(err)
			}
			sendLine(t, m, `{"type":"req","id":"1","method":"connect","params":{"minProtocol":1,"client":{"id":"c","mode":"client"},"auth":{"token":"hunter2"}}}`)
			synctest.Wait()
			m.ws.Close()
		}
		time.Sleep(refusedEvery)
		synctest.Wait()
		got := strings.Join(log.takeLines(), "\n")
		if strings.Count(got, "Login refused") != 1 || !strings.Contains(got, "count=2") {
			t.Errorf("got log\n%s\nwant one refused login and the count of the other two\nwant one with \"count=2\"", got)
		}
		if strings.Contains(got, "hunter2") {
			t.Errorf("got the token in the log, want none:\n%s", got)
		}
	})
}
