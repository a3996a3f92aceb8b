package rpc

import (
	"context"
	"encoding/json"
	"errors"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

type fakeConfig struct{}

func (fakeConfig) Schema() []protocol.ConfigField {
	return []protocol.ConfigField{{Path: "agent.maxSteps", Type: "integer", Default: json.RawMessage("40"), Description: "How many steps."}}
}

func (fakeConfig) All() (json.RawMessage, error) { return json.RawMessage(`{"model":{}}`), nil }

func (fakeConfig) Read(path string) (json.RawMessage, error) {
	if path == "auth.token" {
		return json.RawMessage(`"` + protocol.MaskedSecret + `"`), nil
	}
	if path == "model" {
		return json.RawMessage(`{"provider":"operator","id":"built-in"}`), nil
	}
	return nil, nil
}

func (fakeConfig) Set(_ context.Context, path string, value json.RawMessage) error {
	if string(value) == `"wrong"` {
		return protocol.ErrBadRequest.With(path + ": must be a number")
	}
	return nil
}

type fakeModels struct{}

func (fakeModels) Providers() []protocol.Provider { return nil }

func (fakeModels) Models(_ context.Context, provider string) ([]protocol.ModelInfo, error) {
	return []protocol.ModelInfo{{ID: "m1"}}, fails(provider)
}

func (fakeModels) Test(_ context.Context, provider, model string) protocol.ModelsTestResult {
	return protocol.ModelsTestResult{OK: true, Message: provider + " answered with " + model}
}

func (fakeModels) Detect(context.Context) []protocol.DetectedServer { return nil }

func (fakeModels) CheckReserve(_ context.Context, _ protocol.ModelRef, tokens int64) error {
	if tokens > 1000 {
		return protocol.ErrBadRequest.With("at most 1000")
	}
	return nil
}

// fakeJournal has three calls.
type fakeJournal struct{}

func (fakeJournal) List(_ context.Context, q protocol.JournalListParams) ([]store.Call, bool, error) {
	if err := fails(string(q.SessionKey)); err != nil {
		return nil, false, err
	}
	if q.SessionKey == "main" {
		return nil, false, errSpelling
	}
	code := 0
	all := []store.Call{
		{
			Info: protocol.CallInfo{CallID: "c3", Node: "n", Tool: "Bash", Effect: protocol.EffectExec, State: protocol.CallDone, Args: json.RawMessage(`{"command":"ls"}`), ExitCode: &code, StartedAt: 5, EndedAt: 6},
			Seq:  3, CreatedAt: 4, Principal: "owner c", ResultJSON: json.RawMessage(`"x"`), OutputBytes: 3,
		},
		{Info: protocol.CallInfo{CallID: "c2", Node: "n", Tool: "Read", State: protocol.CallDone, Args: json.RawMessage(`{}`)}, Seq: 2},
		{Info: protocol.CallInfo{CallID: "c1", Node: "n", Tool: "Read", State: protocol.CallDone, Args: json.RawMessage(`{}`)}, Seq: 1},
	}
	n := min(q.Limit, len(all)-q.Offset)
	return all[q.Offset : q.Offset+n], n < q.Limit, nil
}

// errSpelling is returned for a chat that is requested under another key than the stored one.
var errSpelling = errors.New("nothing is stored under that spelling")

// noRules stores nothing: its user holds the rules.
type noRules struct{}

// noGrants has one grant and stores nothing.
type noGrants struct{}

func (noRules) List(context.Context) ([]protocol.Rule, error) { return nil, nil }

func (noGrants) List(context.Context, protocol.SessionKey) ([]store.Grant, error) {
	return []store.Grant{{ID: "g", Session: "s", Node: "n", Tool: "Write", Match: "path /a", Words: "any write of /a", CreatedAt: 7, From: "asked"}}, nil
}

func (noGrants) Put(context.Context, store.Grant, ...protocol.AuditEntry) error { return nil }

func (noGrants) SetDeleted(_ context.Context, id string, _ int64, _ ...protocol.AuditEntry) (bool, error) {
	return id == "g", nil
}

func (noRules) CountHit(context.Context, string, int64) error { return nil }

func (noRules) Put(context.Context, store.RuleChange) error { return nil }

// fakeAudit has two lines.
type fakeAudit struct{}

func (fakeAudit) List(_ context.Context, q protocol.AuditListParams) ([]protocol.AuditEntry, bool, error) {
	all := []protocol.AuditEntry{
		{Seq: 2, At: 20, Kind: protocol.AuditCall, By: "owner c", Node: "n", Tool: "Bash", What: "ls", Verdict: "allow", State: "done", Hash: "b"},
		{Seq: 1, At: 10, Kind: protocol.AuditRuleMade, By: "owner c", Rule: "r", Hash: "a"},
	}
	if q.SessionKey == "main" {
		return nil, false, errSpelling
	}
	n := min(q.Limit, len(all))
	return all[:n], n < len(all), fails(string(q.SessionKey))
}

func (fakeAudit) Append(context.Context, ...protocol.AuditEntry) error { return nil }

func (fakeAudit) Verify(context.Context) (protocol.AuditVerifyResult, error) {
	return protocol.AuditVerifyResult{Lines: 2}, nil
}

// fakeLocalModels has the one model "small".
type fakeLocalModels struct{}

func (fakeLocalModels) List(context.Context) protocol.LocalModelsResult {
	return protocol.LocalModelsResult{
		System: "linux", Memory: 8, Programs: []protocol.LocalProgram{}, Models: []protocol.LocalModel{{ID: "small"}}, Pulls: []protocol.ModelPull{},
	}
}

func (fakeLocalModels) Pull(_, model string) error {
	if model != "small" {
		return protocol.ErrNotFound.With("There is no such model.")
	}
	return nil
}

func (l fakeLocalModels) StopPull(_ context.Context, model string, _ bool) error {
	return l.Pull("", model)
}
