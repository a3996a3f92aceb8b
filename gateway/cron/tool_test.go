package cron_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/cron"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

func TestToolUsesPlainWords(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.set(func(c *config.Config) { c.UserTimezone = "Europe/Berlin" })
		cronTool := cron.Tool(r.sched)
		call := func(args string) map[string]any {
			t.Helper()
			if err := toolkit.Validate(cronTool.Spec.InputSchema, json.RawMessage(args)); err != nil {
				t.Fatalf("%s: %v", args, err)
			}
			raw, err := cronTool.Call(t.Context(), tool.Call{}, json.RawMessage(args))
			if err != nil {
				t.Fatalf("%s: %v", args, err)
			}
			synctest.Wait()
			if err := toolkit.Validate(cronTool.Spec.OutputSchema, raw); err != nil {
				t.Errorf("%s: got %s, want a result that fits its schema: %v", args, raw, err)
			}
			var out map[string]any
			if err := json.Unmarshal(raw, &out); err != nil {
				t.Fatal(err)
			}
			return out
		}
		if out := call(`{"action":"status"}`); out["enabled"] != true || out["count"] != 0.0 {
			t.Errorf("status: got %v, want enabled without jobs", out)
		}
		job := call(`{"action":"add","job":{"name":"Tea","schedule":{"kind":"at","at":"in 20 minutes"},"spec":{"mode":"systemEvent","text":"tea"}}}`)["job"].(map[string]any)
		id := job["id"].(string)
		if got := job["state"].(map[string]any)["nextRunAtMs"]; got != 946684800000.0+20*60_000 {
			t.Errorf("in 20 minutes: got %v, want 20 minutes from now", got)
		}
		daily := call(`{"action":"add","job":{"name":"News","schedule":{"kind":"every","every":"day at 9:00"},"spec":{"mode":"task","message":"say news","deliver":false}}}`)["job"].(map[string]any)
		if s := daily["schedule"].(map[string]any); s["expr"] != "0 9 * * *" || s["tz"] != "Europe/Berlin" {
			t.Errorf("every day: got %v, want 0 9 * * * in Berlin", s)
		}
		if got := daily["state"].(map[string]any)["nextRunAtMs"]; got != 946684800000.0+8*3600_000 {
			t.Errorf("nine in Berlin: got %v, want eight hours from now", got)
		}
		call(`{"action":"update","id":"` + id + `","patch":{"schedule":{"kind":"at","at":"tomorrow 07:30"},"enabled":null}}`)
		for text, kind := range map[string]string{"in 2 minutes": "at", "tomorrow at 8:30": "at", "*/5 * * * *": "cron", "every weekday at 9": "cron", "every 2 hours": "every"} {
			made := call(`{"action":"add","job":{"name":"N","schedule":"` + text + `","spec":{"mode":"systemEvent","text":"x"}}}`)["job"].(map[string]any)
			if got := made["schedule"].(map[string]any)["kind"]; got != kind {
				t.Errorf("%s: got kind %v, want %s", text, got, kind)
			}
			call(`{"action":"remove","id":"` + made["id"].(string) + `"}`)
		}
		odd := call(`{"action":"add","job":{"name":"N","schedule":"0/15 * * * *","spec":{"mode":"systemEvent","text":"x"}}}`)
		if want := "0/15 means minute 0 only; for every 15 minutes write */15"; odd["note"] != want {
			t.Errorf("note about 0/15: got %v, want %s", odd["note"], want)
		}
		for _, j := range call(`{"action":"list"}`)["jobs"].([]any) {
			if j := j.(map[string]any); (j["name"] == "N") != (j["note"] == odd["note"]) {
				t.Errorf("list: got note %v for %v, want it for N alone", j["note"], j["name"])
			}
		}
		call(`{"action":"remove","id":"` + odd["job"].(map[string]any)["id"].(string) + `"}`)
		list := call(`{"action":"list","limit":5.0,"offset":0}`)["jobs"].([]any)
		if len(list) != 2 || list[1].(map[string]any)["name"] != "Tea" {
			t.Errorf("got list %v, want 2 jobs, Tea last", list)
		}
		run := call(`{"action":"run","mode":"force","id":"` + daily["id"].(string) + `"}`)["results"].([]any)[0].(map[string]any)
		if run["status"] != protocol.CronOK || !strings.Contains(run["summary"].(string), "agent:main:cron:") {
			t.Errorf("run: got %v, want ok and the key of its chat", run)
		}
		if runs := call(`{"action":"runs","limit":9999}`)["runs"].([]any); len(runs) != 1 || runs[0].(map[string]any)["summary"] != "news" {
			t.Errorf("got runs %v, want one with news", runs)
		}
		if out := call(`{"action":"remove","id":"` + id + `"}`); out["removed"] != true {
			t.Errorf("remove: got %v, want removed", out)
		}
		for args, want := range map[string]string{
			`{"action":"dance"}`:                      "action must be",
			`{"action":"add"}`:                        "job required",
			`{"action":"update","id":"x"}`:            "patch required",
			`{"action":"update","id":"x","patch":{}}`: "Unknown cron job id: x",
			`{"action":"update","patch":{}}`:          "id and patch required",
			`{"action":"update","id":"x","patch":{"spec":{"message":"say news","Message":"send all"}}}`: "twice",
			`{"action":"update","id":"x","patch":{"Spec":{"text":"a"},"spec":{"text":"b"}}}`:            "twice",
			`{"action":"run","mode":"force"}`:                "requires id",
			`{"action":"remove"}`:                            "id required",
			`{"action":"add","job":{"name":7}}`:              "job: name must be a string",
			`{"action":"add","job":{"schedule":"whenever"}}`: "write it as",
		} {
			if _, err := cronTool.Call(t.Context(), tool.Call{}, json.RawMessage(args)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v; want an error that contains %v", args, err, want)
			}
		}
		var bad *toolkit.InputError
		if _, err := cronTool.Call(t.Context(), tool.Call{}, json.RawMessage(`{"action":7}`)); !errors.As(err, &bad) {
			t.Errorf("got error %v, want an invalid argument", err)
		}
		if cronTool.Spec.Name != "Cron" || cronTool.Spec.Effect != protocol.EffectWrite || !json.Valid(cronTool.Spec.InputSchema) {
			t.Errorf("got %+v, want the tool Cron, which writes", cronTool.Spec)
		}
		time.Sleep(time.Second)
	})
}

// TestToolNeverWaitsForASlot: a job that starts another one must not block both.
func TestToolNeverWaitsForASlot(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.set(func(c *config.Config) { c.Cron.MaxConcurrent = 1 })
		r.add(protocol.CronAddParams{Schedule: &protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(0)}, Spec: task("hang")})
		j := r.add(protocol.CronAddParams{Schedule: every(time.Hour), Spec: task("x")})
		raw, err := cron.Tool(r.sched).Call(t.Context(), tool.Call{}, json.RawMessage(`{"action":"run","mode":"force","id":"`+string(j.ID)+`"}`))
		if err != nil || !strings.Contains(string(raw), "waiting for another job to finish") {
			t.Errorf("got %s, error %v, want that it waits", raw, err)
		}
	})
}
