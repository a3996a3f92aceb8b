package cron

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"fairlead/gateway/protocol"
)

// Tool is a native tool: what a registry needs of it.
type Tool struct {
	Spec protocol.ToolSpec // with the full name
	// EffectOf says what a call with these arguments would do.
	EffectOf func(args json.RawMessage) protocol.Effect
	// Call does it. The result is one that JSON can hold; an error is for the model to read.
	Call func(ctx context.Context, args json.RawMessage) (any, error)
}

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
"schedule":{"type":"object","properties":{"kind":{"type":"string","enum":["at","every","cron"]},"at":{"type":"string"},"in":{"type":"string"},"everyMinutes":{"type":"number"},"everyHours":{"type":"number"},"everyDays":{"type":"number"},"anchor":{"type":"string"},"expr":{"type":"string"},"tz":{"type":"string"}},"required":["kind"]},
"spec":{"type":"object","properties":{"mode":{"type":"string","enum":["systemEvent","task"]},"text":{"type":"string"},"message":{"type":"string"},"deliver":{"type":"boolean"},"channel":{"type":"string"},"to":{"type":"string"},"model":{"type":"string"},"thinking":{"type":"string"},"timeoutSeconds":{"type":"number"},"bestEffortDeliver":{"type":"boolean"}},"required":["mode"]}},
"required":["name","schedule","spec"]},
"patch":{"type":"object","description":"For update: the fields of job that change; a schedule is replaced as a whole, a spec needs its mode"}},
"required":["action"]}`

// toolArgs are the arguments of gsv__Cron (seed 002).
type toolArgs struct {
	Action          string             `json:"action"`
	ID              protocol.CronJobID `json:"id"`
	Mode            string             `json:"mode"`
	AgentID         protocol.AgentID   `json:"agentId"`
	IncludeDisabled *bool              `json:"includeDisabled"`
	Limit           *int               `json:"limit"`
	Offset          int                `json:"offset"`
	JobID           protocol.CronJobID `json:"jobId"`
	Job             json.RawMessage    `json:"job"`
	Patch           json.RawMessage    `json:"patch"`
}

// Tool is gsv__Cron (seed 002). It takes the schedules that people write beside those of cron.add.
func (s *Scheduler) Tool() Tool {
	return Tool{
		Spec: protocol.ToolSpec{Name: "gsv__Cron", Description: toolDescription, InputSchema: json.RawMessage(toolSchema), Effect: protocol.EffectWrite},
		EffectOf: func(raw json.RawMessage) protocol.Effect {
			var in toolArgs
			if json.Unmarshal(raw, &in) != nil {
				return protocol.EffectUnknown
			}
			switch in.Action {
			case "", "status", "list", "runs":
				return protocol.EffectRead
			}
			return protocol.EffectWrite
		},
		Call: s.call,
	}
}

func (s *Scheduler) call(ctx context.Context, raw json.RawMessage) (any, error) {
	var in toolArgs
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &in); err != nil {
			return nil, protocol.ErrBadRequest.With("arguments of gsv__Cron: " + protocol.Problem(err))
		}
	}
	switch in.Action {
	case "", "status": // the original's default
		return s.Status(ctx, protocol.CronStatusParams{AgentID: in.AgentID})
	case "list":
		return s.List(ctx, protocol.CronListParams{AgentID: in.AgentID, IncludeDisabled: in.IncludeDisabled, Limit: in.Limit, Offset: in.Offset})
	case "add":
		var p protocol.CronAddParams
		if err := s.plain("job", in.Job, &p); err != nil {
			return nil, err
		}
		if p.AgentID == "" {
			p.AgentID = in.AgentID
		}
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
		return s.Runs(ctx, protocol.CronRunsParams{JobID: in.JobID, Limit: in.Limit, Offset: in.Offset})
	}
	return nil, protocol.ErrBadRequest.With(fmt.Sprintf("action must be status, list, add, update, remove, run or runs, not %.20q", in.Action))
}

// plain reads a job or patch into out after its schedule was brought into the form of cron.add.
func (s *Scheduler) plain(name string, raw json.RawMessage, out any) error {
	var f fields
	if err := json.Unmarshal(raw, &f); err != nil || f == nil {
		return protocol.ErrBadRequest.With(name + " required")
	}
	if f.has("schedule") {
		schedule, err := ParseSchedule(f["schedule"], time.Now(), s.zone())
		if err != nil {
			return bad(err)
		}
		if f["schedule"], err = protocol.Marshal(schedule); err != nil {
			return err
		}
	}
	whole, err := protocol.Marshal(f)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(whole, out); err != nil {
		return protocol.ErrBadRequest.With(name + ": " + protocol.Problem(err))
	}
	return nil
}
