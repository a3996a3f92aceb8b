package cron

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

//go:embed tool.txt
var toolDescription string

//go:embed tool.json
var toolSchema []byte

// toolArgs are the arguments of gsv__Cron.
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

// Tool returns gsv__Cron, which acts on the scheduler that of returns. Besides the schedules of
// cron.add it accepts those that people write.
func Tool(s *Scheduler) toolkit.Tool[tool.Call] {
	run := func(ctx context.Context, call tool.Call, in toolArgs) (any, error) { return s.call(ctx, call, in) }
	t := toolkit.Define("Cron", strings.TrimSpace(toolDescription), toolkit.Traits{Effect: protocol.EffectWrite}, run)
	t.Spec.InputSchema, t.Spec.EffectOf = toolSchema, effectOf
	return toolkit.WithResults(t, protocol.CronStatus{}, protocol.CronListResult{}, protocol.CronJobResult{}, protocol.CronRemoveResult{}, protocol.CronRunNowResult{}, protocol.CronRunsResult{})
}

// effectOf returns the effect of one call. Most calls only read.
func effectOf(args json.RawMessage) protocol.Effect {
	var in struct{ Action string }
	if json.Unmarshal(args, &in) == nil && slices.Contains([]string{"status", "list", "runs"}, in.Action) {
		return protocol.EffectRead
	}
	return protocol.EffectWrite
}

func (s *Scheduler) call(ctx context.Context, call tool.Call, in toolArgs) (any, error) {
	var limit *int // values that are too large are reduced to the limit, which the model cannot know
	if in.Limit != nil {
		n := int(min(max(*in.Limit, 1), 500))
		limit = &n
	}
	offset := int(min(max(in.Offset, 0), math.MaxInt32))
	switch in.Action {
	case "status":
		return s.Status(ctx, protocol.CronStatusParams{AgentID: in.AgentID})
	case "list":
		return s.List(ctx, protocol.CronListParams{AgentID: in.AgentID, IncludeDisabled: in.IncludeDisabled, Limit: limit, Offset: offset})
	case "add":
		var p protocol.CronAddParams
		if err := s.decodeJob("job", in.Job, &p); err != nil {
			return nil, err
		}
		p.AgentID = cmp.Or(p.AgentID, in.AgentID, call.Session.Agent())
		return s.Add(ctx, p)
	case "update":
		var p protocol.CronJobPatch
		if err := s.decodeJob("patch", in.Patch, &p); err != nil {
			return nil, err
		}
		return s.Update(ctx, protocol.CronUpdateParams{ID: in.ID, Patch: &p})
	case "remove":
		return s.Remove(ctx, protocol.CronJobParams{ID: in.ID})
	case "run":
		// Never wait: the run may itself wait for the calling chat.
		wait := false
		out, err := s.RunNow(ctx, protocol.CronRunParams{ID: in.ID, Mode: in.Mode, Wait: &wait})
		for i := range out.Results {
			if r := &out.Results[i]; r.Status == protocol.CronRunning {
				r.Status = protocol.CronOK // clients know no other status for a started run
			}
		}
		return out, err
	case "runs":
		return s.Runs(ctx, protocol.CronRunsParams{JobID: in.JobID, Limit: limit, Offset: offset})
	}
	return nil, protocol.ErrBadRequest.With(fmt.Sprintf("action must be status, list, add, update, remove, run or runs, not %.20q", in.Action))
}

// decodeJob converts a job or patch to the form of cron.add and decodes it into out.
func (s *Scheduler) decodeJob(name string, job map[string]any, out any) error {
	if job == nil {
		return protocol.ErrBadRequest.With(name + " required")
	}
	if err := checkDuplicates(name, job); err != nil {
		return err
	}
	job = maps.Clone(job)
	if job["schedule"] != nil {
		schedule, err := protocol.Marshal(job["schedule"])
		if err != nil {
			return err
		}
		if job["schedule"], err = parseSchedule(schedule, time.Now(), s.o.zone()); err != nil {
			return bad(err)
		}
	}
	raw, err := protocol.Marshal(job)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return protocol.ErrBadRequest.With(name + ": " + protocol.Problem(err))
	}
	return nil
}

// checkDuplicates rejects names that differ only in case: the approval would show only one of them.
func checkDuplicates(in string, v map[string]any) error {
	seen := make(map[string]bool, len(v))
	for name, value := range v {
		folded := strings.ToLower(strings.ToUpper(name))
		if seen[folded] {
			return protocol.ErrBadRequest.With(fmt.Sprintf("%s has %.40q twice, in upper and lower case", in, name))
		}
		seen[folded] = true
		if below, ok := value.(map[string]any); ok {
			if err := checkDuplicates(in+"."+name, below); err != nil {
				return err
			}
		}
	}
	return nil
}
