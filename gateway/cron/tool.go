package cron

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"time"

	"fairlead/gateway/native"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/tool"
)

const toolDescription = `Manage scheduled jobs. Actions: status, list, add, update, remove, run, runs.
A job has a name, a schedule and a spec.
Schedule: {"kind":"at","at":"2026-03-29T09:00" or "in 2 hours" or "tomorrow 09:00"}, {"kind":"every","everyMinutes":30} (or everyHours, everyDays; anchor sets the phase), or {"kind":"cron","expr":"0 9 * * 1-5","tz":"Europe/Berlin"} (five fields; the person's time zone when tz is absent).
Spec: {"mode":"systemEvent","text":"..."} puts the text into the main chat; {"mode":"task","message":"..."} runs it in a chat of its own, which knows nothing of this one, and delivers the answer unless deliver is false.
"run" starts jobs without waiting for their ends; "runs" shows how they went.`

const toolSchema = `{"type":"object","properties":{
"action":{"type":"string","enum":["status","list","add","update","remove","run","runs"],"description":"What to do"},
"id":{"type":"string","description":"Job id, for update, remove and run"},
"mode":{"type":"string","enum":["due","force"],"description":"For run: due runs only jobs that are due, force runs the one named now"},
"agentId":{"type":"string","description":"Filter for list and status, owner for add"},
"includeDisabled":{"type":"boolean","description":"For list"},
"limit":{"type":"number","description":"For list and runs"},
"offset":{"type":"number","description":"For list and runs"},
"jobId":{"type":"string","description":"For runs: only of this job"},
"job":{"type":"object","description":"For add","properties":{
"name":{"type":"string"},"description":{"type":"string"},"agentId":{"type":"string"},"enabled":{"type":"boolean"},
"deleteAfterRun":{"type":"boolean","description":"Remove a one-shot job after it went well"},
"missed":{"type":"string","enum":["skip","latest","all","ask"],"description":"What becomes of times that passed while it could not run; latest is usual"},
"schedule":{"description":"As described above; at and anchor may also be milliseconds since 1970","properties":{"kind":{"type":"string","enum":["at","every","cron"]},"at":{},"in":{"type":"string"},"everyMinutes":{"type":"number"},"everyHours":{"type":"number"},"everyDays":{"type":"number"},"anchor":{},"expr":{"type":"string"},"tz":{"type":"string"}}},
"spec":{"type":"object","properties":{"mode":{"type":"string","enum":["systemEvent","task"]},"text":{"type":"string"},"message":{"type":"string"},"deliver":{"type":"boolean"},"channel":{"type":"string"},"to":{"type":"string"},"model":{"type":"string"},"thinking":{"type":"string"},"timeoutSeconds":{"type":"number"},"bestEffortDeliver":{"type":"boolean"}},"required":["mode"]}},
"required":["name","schedule","spec"]},
"patch":{"type":"object","description":"For update: the fields of job that change; a schedule is replaced as a whole, a spec needs its mode"}}}`

// toolArgs are the arguments of gsv__Cron (seed 002).
type toolArgs struct {
	Action          string             `json:"action,omitempty"`
	ID              protocol.CronJobID `json:"id,omitempty"`
	Mode            string             `json:"mode,omitempty"`
	AgentID         protocol.AgentID   `json:"agentId,omitempty"`
	IncludeDisabled *bool              `json:"includeDisabled,omitempty"`
	Limit           *float64           `json:"limit,omitempty"`
	Offset          float64            `json:"offset,omitempty"`
	JobID           protocol.CronJobID `json:"jobId,omitempty"`
	Job             map[string]any     `json:"job,omitempty"`
	Patch           map[string]any     `json:"patch,omitempty"`
}

// Tool is gsv__Cron (seed 002). It takes the schedules that people write beside those of cron.add.
func (s *Scheduler) Tool() tool.Tool {
	t := tool.Define("Cron", toolDescription, tool.Traits{Effect: protocol.EffectWrite}, s.call)
	t.Spec.InputSchema = json.RawMessage(toolSchema)
	return t
}

func (s *Scheduler) call(ctx context.Context, in toolArgs) (any, error) {
	var limit *int // too much is the most there is: the model cannot know
	if in.Limit != nil {
		n := int(min(max(*in.Limit, 1), 500))
		limit = &n
	}
	offset := int(min(max(in.Offset, 0), math.MaxInt32))
	switch in.Action {
	case "", "status": // the original's default
		return s.Status(ctx, protocol.CronStatusParams{AgentID: in.AgentID})
	case "list":
		return s.List(ctx, protocol.CronListParams{AgentID: in.AgentID, IncludeDisabled: in.IncludeDisabled, Limit: limit, Offset: offset})
	case "add":
		var p protocol.CronAddParams
		if err := s.plain("job", in.Job, &p); err != nil {
			return nil, err
		}
		p.AgentID = cmp.Or(p.AgentID, in.AgentID, native.AgentOf(ctx))
		return s.Add(ctx, p)
	case "update":
		var p protocol.CronJobPatch
		if err := s.plain("patch", in.Patch, &p); err != nil {
			return nil, err
		}
		return s.Update(ctx, protocol.CronUpdateParams{ID: in.ID, Patch: &p})
	case "remove":
		return s.Remove(ctx, protocol.CronJobParams{ID: in.ID})
	case "run":
		// Never waits: the run may be one that waits for the chat which calls.
		wait := false
		return s.RunNow(ctx, protocol.CronRunParams{ID: in.ID, Mode: in.Mode, Wait: &wait})
	case "runs":
		return s.Runs(ctx, protocol.CronRunsParams{JobID: in.JobID, Limit: limit, Offset: offset})
	}
	return nil, protocol.ErrBadRequest.With(fmt.Sprintf("action must be status, list, add, update, remove, run or runs, not %.20q", in.Action))
}

// plain reads a job or patch into out after its schedule was brought into the form of cron.add.
func (s *Scheduler) plain(name string, given map[string]any, out any) error {
	if given == nil {
		return protocol.ErrBadRequest.With(name + " required")
	}
	given = maps.Clone(given)
	if given["schedule"] != nil {
		raw, err := protocol.Marshal(given["schedule"])
		if err != nil {
			return err
		}
		if given["schedule"], err = ParseSchedule(raw, time.Now(), s.zone()); err != nil {
			return bad(err)
		}
	}
	whole, err := protocol.Marshal(given)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(whole, out); err != nil {
		return protocol.ErrBadRequest.With(name + ": " + protocol.Problem(err))
	}
	return nil
}
