package cron_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
)

func TestUnansweredJobFails(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		const missed = "1 call was not made, because its approval expired."
		spec := protocol.CronMode{Mode: protocol.CronTask, Message: "unanswered It is saved."}
		once := r.add(protocol.CronAddParams{Name: "Back up", Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(0)}, Spec: &spec, DeleteAfterRun: true})
		time.Sleep(time.Minute)
		st := r.job(once.ID).State // the job stays, so that it can be run again
		if st.LastStatus != protocol.CronError || st.LastError != missed || st.RunningAtMs != 0 {
			t.Errorf("got job %+v, want the error %q", st, missed)
		}
		if runs := r.runs(); len(runs) != 1 || runs[0] != "error "+missed {
			t.Errorf("got history %q, want the error %q", runs, missed)
		}
		if notices := r.notices(); len(notices) != 1 || notices[0] != "The schedule “Back up” failed: "+missed {
			t.Errorf("got notices %q, want one with %q", notices, missed)
		}
		if runs, err := r.sched.Runs(t.Context(), protocol.CronRunsParams{}); err != nil || runs.Runs[0].Denied != 2 {
			t.Errorf("denied calls of the run: got %+v, %v, want 2", runs.Runs, err)
		}
		spec.Channel, spec.Message = "xmpp", "unanswered Sent."
		r.add(protocol.CronAddParams{Name: "Tell", Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(0)}, Spec: &spec})
		time.Sleep(time.Minute)
		if runs := r.runs(); len(runs) != 2 || runs[1] != "error "+missed+" The answer could not be delivered: no channel xmpp is connected" {
			t.Errorf("with an answer that could not be delivered: got history %q, want both errors", runs)
		}
	})
}

func TestUnansweredHeartbeatFails(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		const missed = "1 call was not made, because its approval expired."
		r.addHeartbeat("unanswered HEARTBEAT_OK", nil)
		res, err := r.sched.HeartbeatTrigger(t.Context(), protocol.HeartbeatTriggerParams{})
		if err != nil || res.Message != "Nothing to report. "+missed {
			t.Errorf("got %+v, error %v, want nothing to report, and %q", res, err, missed)
		}
		synctest.Wait() // the waiting request is notified first
		if st := r.heartbeat(); st.LastStatus != protocol.CronError || st.LastError != missed || st.LastHeartbeatAt == nil {
			t.Errorf("got %+v, want the error %q", st, missed)
		}
		r.addHeartbeat("unanswered The disk is full.", nil)
		res, err = r.sched.HeartbeatTrigger(t.Context(), protocol.HeartbeatTriggerParams{})
		if err != nil || res.Message != "Reported: The disk is full.\n"+missed {
			t.Errorf("got %+v, error %v, want the report, and %q", res, err, missed)
		}
		synctest.Wait() // the waiting request is notified first
		if st := r.heartbeat(); st.LastStatus != protocol.CronError || !strings.HasPrefix(st.LastHeartbeatText, "The disk is full.") {
			t.Errorf("got %+v, want the error, and the report", st)
		}
	})
}
