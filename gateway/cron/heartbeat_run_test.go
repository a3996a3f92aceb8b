package cron_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/cron"
	"fairlead/gateway/protocol"
)

// addHeartbeat adds a heartbeat every 30 minutes to the scheduler.
func (r *testScheduler) addHeartbeat(prompt string, file func() (string, error)) {
	r.stop()
	r.set(func(c *config.Config) {
		c.Agents.DefaultHeartbeat = config.Heartbeat{Every: "30m", Prompt: prompt, Target: "last", ActiveHours: &config.ActiveHours{Start: "08:00", End: "23:00"}}
	})
	r.opts = func(o *cron.Options) {
		if file != nil {
			o.HeartbeatFile = func(protocol.AgentID) (string, error) { return file() }
		}
	}
	r.open()
}

func (r *testScheduler) heartbeat() protocol.HeartbeatState {
	r.t.Helper()
	res, err := r.sched.HeartbeatStatus(r.t.Context(), protocol.Empty{})
	if err != nil {
		r.t.Fatal(err)
	}
	return res.Agents[protocol.MainAgent]
}

func TestHeartbeatRunsInItsHours(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.addHeartbeat("say Disk is full.", nil)
		time.Sleep(7*time.Hour + 31*time.Minute)
		if st := r.heartbeat(); len(r.agent.Sent()) != 0 || st.LastStatus != protocol.CronSkipped || st.LastError != protocol.SkipOutsideHours || st.LastHeartbeatAt != nil {
			t.Errorf("before eight: got %+v, want it skipped", st)
		}
		time.Sleep(40 * 30 * time.Minute)
		sent := r.agent.Sent()
		if len(sent) != 30 { // 08:00 to 22:30
			t.Fatalf("got %d heartbeats, want 30", len(sent))
		}
		if s := sent[0]; s.In.SessionKey != "agent:main:heartbeat:system:internal" || s.From != "schedule heartbeat" || !strings.Contains(s.In.Message, "- look") ||
			!strings.HasPrefix(s.In.Message, "[Heartbeat, Saturday, 1 January 2000 08:00 UTC]\n") {
			t.Errorf("got %s %q, want the checklist in the chat of heartbeats", s, s.In.Message)
		}
		if notices := r.notices(); len(notices) != 1 || notices[0] != "Heartbeat: Disk is full." {
			t.Errorf("got notices %q, want one about the disk", notices)
		}
		time.Sleep(24 * time.Hour)
		if notices := r.notices(); len(notices) != 1 {
			t.Errorf("got %d notices after the next day, want 1", len(notices))
		}
	})
}

func TestTheCostOfHeartbeatsIsMeasured(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.addHeartbeat("say HEARTBEAT_OK", nil)
		if st := r.heartbeat(); st.Runs != 0 || st.EstimatedTokens < 2000 || st.EstimatedTokens > 2100 {
			t.Errorf("before the first: got %+v, want an estimate of about 2000 tokens", st)
		}
		for range 2 {
			if _, err := r.sched.HeartbeatTrigger(t.Context(), protocol.HeartbeatTriggerParams{}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if st := r.heartbeat(); st.Runs != 2 || st.Usage.Total != 200 || *st.Usage.Cost != 1 || st.EstimatedTokens != 0 {
			t.Errorf("after two: got %+v, want the tokens used", st)
		}
	})
}

func TestHeartbeatWithoutNewsIsSilent(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.addHeartbeat("say HEARTBEAT_OK", nil)
		time.Sleep(12 * time.Hour)
		st := r.heartbeat()
		if len(r.agent.Sent()) == 0 || st.LastStatus != protocol.CronOK || st.LastHeartbeatText != "" {
			t.Errorf("got %+v, want OK without a text", st)
		}
		if notices := r.notices(); len(notices) != 0 {
			t.Errorf("got notices %q, want none", notices)
		}
	})
}

func TestAHeartbeatIsSkippedWithoutWorkOrInABusyChat(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		text, fail := "# Nothing\n", error(nil)
		r.addHeartbeat("x", func() (string, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			return text, fail
		})
		time.Sleep(9*time.Hour + time.Second)
		for _, c := range []struct {
			text string
			err  error
			busy bool
			want string
		}{
			{"# Nothing", nil, false, protocol.SkipEmptyFile}, {"", fs.ErrNotExist, false, protocol.SkipNoFile}, {"- look", nil, true, protocol.SkipBusy},
		} {
			r.set(func(*config.Config) { text, fail = c.text, c.err })
			r.agent.SetBusy(c.busy)
			time.Sleep(30 * time.Minute)
			if st := r.heartbeat(); st.LastError != c.want || len(r.agent.Sent()) != 0 {
				t.Errorf("%+v: got %+v, want error %q and no run", c, st, c.want)
			}
		}
		// A trigger does not check the file or whether a chat is busy.
		res, err := r.sched.HeartbeatTrigger(t.Context(), protocol.HeartbeatTriggerParams{})
		if err != nil || !res.OK || res.Skipped || len(r.agent.Sent()) != 1 {
			t.Errorf("got %+v, error %v, want one run", res, err)
		}
	})
}

func TestHeartbeatTriggerReportsFailuresAndRunningChecks(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.addHeartbeat("fail no model", nil)
		if _, err := r.sched.HeartbeatTrigger(t.Context(), protocol.HeartbeatTriggerParams{AgentID: "MAIN"}); err == nil || err.Error() != "no model" {
			t.Errorf("got error %v, want no model", err)
		}
		synctest.Wait()
		if st := r.heartbeat(); st.LastStatus != protocol.CronError || st.LastError != "no model" || st.LastHeartbeatAt == nil {
			t.Errorf("got %+v, want the error no model", st)
		}
		r.addHeartbeat("hang", nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r.sched.HeartbeatTrigger(ctx, protocol.HeartbeatTriggerParams{})
		res, err := r.sched.HeartbeatTrigger(t.Context(), protocol.HeartbeatTriggerParams{})
		if err != nil || !res.Skipped || res.SkipReason != protocol.SkipBusy {
			t.Errorf("got %+v, error %v, want it skipped because it is busy", res, err)
		}
	})
}

func TestTheHeartbeatsTargetIsWhereThePersonIs(t *testing.T) {
	for _, c := range []struct {
		target string
		active *protocol.LastActive
		want   string
	}{
		{"last", nil, "[/]"}, {"none", nil, "[]"}, {"xmpp", nil, "[]"}, {"xmpp", &protocol.LastActive{Channel: "irc"}, "[]"}, {"xmpp", &protocol.LastActive{Channel: "xmpp"}, "[xmpp/]"},
	} {
		t.Run(fmt.Sprint(c.target, c.active), func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *testScheduler) {
				r.stop()
				target := c.target
				r.set(func(c *config.Config) {
					c.Agents.DefaultHeartbeat = config.Heartbeat{Every: "30m", Prompt: "say hi", Target: target}
				})
				var notices []string
				r.opts = func(o *cron.Options) {
					o.LastActive = func(context.Context, protocol.AgentID) *protocol.LastActive { return c.active }
					o.Deliver = func(_ context.Context, d cron.Delivery) (string, error) {
						r.set(func(*config.Config) { notices = append(notices, d.Channel+"/"+d.To) })
						return "there", nil
					}
				}
				r.open()
				time.Sleep(31 * time.Minute)
				synctest.Wait()
				if fmt.Sprint(notices) != c.want {
					t.Errorf("got notices %v, want %s", notices, c.want)
				}
				if got := r.heartbeat().LastActive; got != c.active {
					t.Errorf("got last active %+v, want %+v", got, c.active)
				}
			})
		})
	}
}

func TestTheHeartbeatFollowsItsInterval(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.addHeartbeat("say HEARTBEAT_OK", nil)
		r.set(func(c *config.Config) { c.Agents.DefaultHeartbeat.ActiveHours = nil })
		begin := time.Now()
		next := func() time.Duration {
			st := r.heartbeat()
			if st.NextHeartbeatAt == nil {
				return 0
			}
			return time.UnixMilli(*st.NextHeartbeatAt).Sub(begin).Round(time.Second)
		}
		time.Sleep(10 * time.Minute)
		r.powerOff(time.Minute)
		if d := next(); d != 30*time.Minute {
			t.Errorf("after a restart: got %s, want 30m", d)
		}
		r.set(func(c *config.Config) { c.Agents.DefaultHeartbeat.Every = "5m" })
		r.sched.ConfigChanged("")
		synctest.Wait()
		if d := next(); d != 16*time.Minute {
			t.Errorf("with a shorter interval: got %s, want 16m", d)
		}
		r.set(func(c *config.Config) { c.Agents.DefaultHeartbeat.Every = "2h" })
		res, err := r.sched.HeartbeatStart(t.Context(), protocol.Empty{})
		if d := next(); err != nil || d != 131*time.Minute || res.Message != "Heartbeat scheduler started for 1 agents" {
			t.Errorf("started: got %s, %+v, error %v, want 131m", d, res, err)
		}
		r.powerOff(5 * time.Hour)
		if n := len(r.agent.Sent()); n != 1 {
			t.Errorf("after five hours off: got %d heartbeats, want 1", n)
		}
		r.set(func(c *config.Config) { c.Agents.DefaultHeartbeat.Every = "0m" })
		r.sched.ConfigChanged("")
		synctest.Wait()
		if d := next(); d != 0 {
			t.Errorf("turned off: got %s, want 0", d)
		}
		r.set(func(c *config.Config) { c.Agents.DefaultHeartbeat.Every = "often" })
		if st := r.heartbeat(); st.LastStatus != protocol.CronError || !strings.Contains(st.LastError, "is invalid") {
			t.Errorf("an invalid interval: got %+v, want an error", st)
		}
		r.set(func(c *config.Config) {
			c.Agents.List = []config.AgentEntry{{ID: "Helper Desk", Heartbeat: &config.Heartbeat{Every: "1h", Prompt: "say hi", Target: "last"}}}
		})
		time.Sleep(11 * time.Minute)
		r.sched.ConfigChanged("")
		time.Sleep(61 * time.Minute)
		sent := r.agent.Sent()
		if last := sent[len(sent)-1]; last.In.SessionKey != "agent:helper-desk:heartbeat:system:internal" {
			t.Errorf("of another agent: got %s, want its own chat", last)
		}
		if res, err := r.sched.HeartbeatTrigger(t.Context(), protocol.HeartbeatTriggerParams{}); err != nil || !res.OK {
			t.Errorf("triggering the main agent: got %+v, %v, want it done", res, err)
		}
	})
}

func TestMainAgentHasAHeartbeatBesideOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.addHeartbeat("say hi", nil)
		r.set(func(c *config.Config) {
			c.Agents.DefaultHeartbeat.ActiveHours = nil
			c.Agents.List = []config.AgentEntry{{ID: "helper", Heartbeat: &config.Heartbeat{Every: "0m"}}}
		})
		r.sched.ConfigChanged("")
		time.Sleep(31 * time.Minute)
		if st := r.heartbeat(); st.AgentID != protocol.MainAgent || st.LastHeartbeatAt == nil {
			t.Errorf("the main agent's heartbeat: got %+v, want one after 30 minutes", st)
		}
	})
}
