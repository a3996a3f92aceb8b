//go:build unix

package gateway_test

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
)

// TestUnansweredCallIsNotRunAndBlocksNothing tests the whole flow for every unattended caller:
// a job, the heartbeat and a channel.
func TestUnansweredCallIsNotRunAndBlocksNothing(t *testing.T) {
	home := t.TempDir()
	c := startChild(t, home)
	defer c.kill()
	conn, stop := dial(t, c.url)
	defer stop()
	for path, value := range map[string]string{
		"approvals.timeoutMs": `300`, "channels.telex": `{"dmPolicy":"allowlist","allowFrom":["ann"]}`, "agents.defaultHeartbeat.prompt": `"run touch forbidden.txt"`,
	} {
		call(t, conn, protocol.ConfigSet, protocol.ConfigSetParams{Path: path, Value: json.RawMessage(value)})
	}
	w := openWire(t, c.url, "kill-test")
	defer w.stop()
	soon := time.Now().UnixMilli()
	job := call(t, conn, protocol.CronAdd, protocol.CronAddParams{
		Name: "Stamp", Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: &soon},
		Spec: &protocol.CronMode{Mode: protocol.CronTask, Message: "run touch forbidden.txt"},
	}).Job
	w.write(t, "run touch forbidden.txt")
	const missed = "1 call was not made, because its approval expired."
	if beat := call(t, conn, protocol.HeartbeatTrigger, protocol.HeartbeatTriggerParams{}); !strings.Contains(beat.Message, missed) {
		t.Errorf("the heartbeat: got %+v, want %q", beat, missed)
	}
	w.waitText(t, "Nobody answered the question in time")
	var runs protocol.CronRunsResult
	polltest.Until(t, "the end of the job's run", func() bool {
		runs = call(t, conn, protocol.CronRuns, protocol.CronRunsParams{JobID: job.ID})
		return runs.Count > 0
	})
	if r := runs.Runs[0]; r.Status != protocol.CronError || r.Error != missed || !strings.Contains(r.Summary, "Nobody answered") {
		t.Errorf("the job: got %+v, want it failed because nobody answered", r)
	}
	if st := call(t, conn, protocol.CronStatusGet, protocol.CronStatusParams{}); st.RunningCount != 0 {
		t.Errorf("a job still runs: %+v", st)
	}
	if open := call(t, conn, protocol.QuestionList, protocol.Empty{}).Questions; len(open) > 0 {
		t.Errorf("questions are still open: %+v", open)
	}
	w.write(t, "what can you do")
	w.waitText(t, "") // the chat serves the next message
	filepath.WalkDir(home, func(path string, _ fs.DirEntry, _ error) error {
		if filepath.Base(path) == "forbidden.txt" {
			t.Errorf("%s was made though nobody allowed it", path)
		}
		return nil
	})
}
