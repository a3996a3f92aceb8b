package cron_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/cron"
	"fairlead/gateway/peer/crash/crashtest"
	"fairlead/gateway/protocol"
)

// broken panics when a schedule sends its first message.
type broken struct {
	cron.Messages
	count int
}

func (b *broken) Send(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	if b.count++; b.count == 1 {
		panic("broken")
	}
	return b.Messages.Send(ctx, p, in)
}

func TestPanicFailsOneRunOfASchedule(t *testing.T) {
	log, dir := crashtest.Watch(t), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := &testScheduler{t: t, dir: dir, opts: func(o *cron.Options) { o.Messages = &broken{Messages: o.Messages} }}
		r.open()
		defer r.stop()
		r.add(protocol.CronAddParams{Schedule: every(time.Hour), Spec: task("hi")})
		time.Sleep(2*time.Hour + time.Minute)
		synctest.Wait()
		if got := r.runs(); len(got) != 2 || !strings.HasPrefix(got[0], "error internal error") || got[1] != "ok" {
			t.Errorf("got the runs %q, want an error and then ok", got)
		}
	})
	log.Until(1, "schedule")
}

func TestPanicFailsOneHeartbeat(t *testing.T) {
	log, count := crashtest.Watch(t), 0
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.addHeartbeat("look", func() (string, error) {
			if count++; count == 1 {
				panic("broken")
			}
			return "", nil
		})
		time.Sleep(8*time.Hour + 15*time.Minute)
		synctest.Wait()
		if st := r.heartbeat(); st.LastStatus != protocol.CronError || !strings.HasPrefix(st.LastError, "internal error in heartbeat") {
			t.Errorf("the heartbeat that panics: got %+v, want an error", st)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if st := r.heartbeat(); st.LastStatus == protocol.CronError || count < 2 {
			t.Errorf("the next heartbeat: got %+v after %d, want no error", st, count)
		}
	})
	log.Until(1, "heartbeat")
}
