package rpc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// shape holds the Go types of a method.
type shape struct {
	name           string
	params, result reflect.Type
}

func of[P, R any](m protocol.Method[P, R]) shape {
	return shape{m.Name, reflect.TypeFor[P](), reflect.TypeFor[R]()}
}

// shapes are the protocol's methods with their Go types.
var shapes = []shape{
	of(protocol.Connect), of(protocol.ChatSend), of(protocol.ConfigGet), of(protocol.ConfigSet), of(protocol.ToolsList), of(protocol.InvokeTool),
	of(protocol.ReturnResult), of(protocol.RequestTool), of(protocol.NodeForget), of(protocol.ReportExec), of(protocol.GetLogs), of(protocol.ReturnLogs),
	of(protocol.SessionsList), of(protocol.SessionGet), of(protocol.SessionGetStat), of(protocol.SessionReset), of(protocol.SessionPatch),
	of(protocol.SessionHistory), of(protocol.SessionCompact), of(protocol.SessionPreview), of(protocol.HeartbeatStatus), of(protocol.HeartbeatStart), of(protocol.HeartbeatTrigger),
	of(protocol.CronStatusGet), of(protocol.CronList), of(protocol.CronAdd), of(protocol.CronUpdate), of(protocol.CronRemove), of(protocol.CronRunNow),
	of(protocol.CronRuns), of(protocol.SkillsStatus), of(protocol.SkillsUpdate), of(protocol.WorkspaceList),
	{protocol.WorkspaceRead.Name, reflect.TypeFor[protocol.WorkspaceReadParams](), reflect.TypeFor[protocol.WorkspaceReadResult]()},
	of(protocol.WorkspaceWrite), of(protocol.WorkspaceDelete), of(protocol.TransferMeta), of(protocol.TransferAccept), of(protocol.TransferComplete),
	of(protocol.TransferFinish), of(protocol.ChannelsList), of(protocol.ChannelInbound), of(protocol.ChannelStart), of(protocol.ChannelStop),
	of(protocol.ChannelStatus), of(protocol.ChannelLogin), of(protocol.ChannelLogout), of(protocol.PairList), of(protocol.PairApprove),
	of(protocol.PairReject),
}

// events are the protocol's events with their Go types.
var events = map[string]reflect.Type{
	protocol.EventChat: reflect.TypeFor[protocol.ChatEvent](), protocol.EventToolInvoke: reflect.TypeFor[protocol.ToolInvoke](),
	protocol.EventLogsGet: reflect.TypeFor[protocol.LogsGet](), protocol.EventTransferSend: reflect.TypeFor[protocol.TransferSend](),
	protocol.EventTransferStart: reflect.TypeFor[protocol.TransferStartEvent](), protocol.EventTransferReceive: reflect.TypeFor[protocol.TransferReceive](),
	protocol.EventTransferEnd: reflect.TypeFor[protocol.TransferEnd](),
}

func TestTheSpecificationHasFiftyMethods(t *testing.T) {
	s := readProtocol(t)
	if len(s.methods) != 50 || len(s.events) != 7 {
		t.Errorf("got %d methods, %d events, want 50, 7", len(s.methods), len(s.events))
	}
	modes := map[string]protocol.Mode{"C": protocol.ModeClient, "N": protocol.ModeNode, "H": protocol.ModeChannel}
	served := map[string]bool{}
	for _, m := range protocol.Methods {
		served[m.Name] = true
		b := s.methods[m.Name]
		if m.Extension == (b != nil) {
			t.Errorf("%s: got extension %v, want %v", m.Name, m.Extension, b == nil)
		}
		if b == nil {
			continue
		}
		for _, who := range b.senders {
			if !slices.Contains(m.Modes, modes[who]) {
				t.Errorf("%s: got modes %v, want %s among them", m.Name, m.Modes, modes[who])
			}
		}
	}
	for name := range s.methods {
		if !served[name] {
			t.Errorf("%s: got no method, want one", name)
		}
	}
	for name := range s.events {
		if !slices.Contains(protocol.Events, name) {
			t.Errorf("%s: got no event, want one", name)
		}
	}
}

func TestGoTypesHaveTheSpecifiedFields(t *testing.T) {
	s := readProtocol(t)
	have := map[string]bool{}
	for _, sh := range shapes {
		have[sh.name] = true
		b := s.methods[sh.name]
		if b == nil {
			t.Errorf("%s: got nothing in the specification, want it", sh.name)
			continue
		}
		for _, err := range s.compare(sh.name+" >", b.params, sh.params, true) {
			t.Error(err)
		}
		if !b.any {
			for _, err := range s.compare(sh.name+" <", b.fields, sh.result, false) {
				t.Error(err)
			}
		}
	}
	for name := range s.methods {
		if !have[name] {
			t.Errorf("%s: got no shape, want one", name)
		}
	}
	for name, b := range s.events {
		if events[name] == nil {
			t.Errorf("%s: got no event, want one", name)
			continue
		}
		for _, err := range s.compare(name, b.fields, events[name], false) {
			t.Error(err)
		}
	}
}

// compare returns the fields of a list that a Go struct lacks. Required fields have no omitempty,
// unless peers may omit them (in).
func (s spec) compare(at string, list []field, typ reflect.Type, in bool) (faults []error) {
	if typ.Kind() != reflect.Struct {
		return []error{fmt.Errorf("%s: %s is no struct", at, typ)}
	}
	for _, f := range list {
		var found *reflect.StructField
		omitted := false
		for i := range typ.NumField() {
			name, rest, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if name == f.name {
				g := typ.Field(i)
				found, omitted = &g, strings.Contains(rest, "omitempty")
			}
		}
		where := at + " " + f.name
		switch {
		case found == nil:
			faults = append(faults, fmt.Errorf("%s is missing in %s", where, typ))
		case !f.optional && omitted && !in:
			faults = append(faults, fmt.Errorf("%s may be left out by %s", where, typ))
		default:
			faults = append(faults, s.checkType(where, f.kind, found.Type, in)...)
		}
	}
	return faults
}

func (s spec) checkType(at, kind string, typ reflect.Type, in bool) []error {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	ok := true
	switch raw := typ == reflect.TypeFor[json.RawMessage](); {
	case kind == "unknown":
	case kind == "object":
		ok = raw || typ.Kind() == reflect.Struct || typ.Kind() == reflect.Map
	case strings.HasSuffix(kind, "[]") && !strings.HasPrefix(kind, "map of "):
		if ok = typ.Kind() == reflect.Slice; ok {
			return s.checkType(at, strings.TrimSuffix(kind, "[]"), typ.Elem(), in)
		}
	case strings.HasPrefix(kind, "map of "):
		if ok = typ.Kind() == reflect.Map; ok {
			return s.checkType(at, strings.TrimPrefix(kind, "map of "), typ.Elem(), in)
		}
	case kind == "string":
		ok = typ.Kind() == reflect.String
	case kind == "boolean":
		ok = typ.Kind() == reflect.Bool
	case kind == "number":
		ok = slices.Contains([]reflect.Kind{reflect.Int, reflect.Int64, reflect.Uint32, reflect.Float64}, typ.Kind())
	case s.types[kind] == nil:
		return []error{fmt.Errorf("%s: the list has no type %s", at, kind)}
	default:
		return s.compare(at, s.types[kind].fields, typ, in)
	}
	if !ok {
		return []error{fmt.Errorf("%s is %s and not %s", at, typ, kind)}
	}
	return nil
}

// missingFields returns the fields of a list that a decoded value lacks or has with another type.
// Unknown fields are extensions.
func (s spec) missingFields(at string, list []field, v any) (faults []error) {
	got, ok := v.(map[string]any)
	if !ok {
		return []error{fmt.Errorf("%s is %T, not an object", at, v)}
	}
	for _, f := range list {
		value, there := got[f.name]
		if !there {
			if !f.optional {
				faults = append(faults, fmt.Errorf("%s lacks %s", at, f.name))
			}
			continue
		}
		faults = append(faults, s.checkValue(at+" "+f.name, f.kind, value)...)
	}
	return faults
}

func (s spec) checkValue(at, kind string, v any) (faults []error) {
	ok := true
	switch {
	case kind == "unknown" || v == nil && nullable[at]:
	case strings.HasPrefix(kind, "map of "):
		m, isMap := v.(map[string]any)
		ok = isMap
		for _, k := range slices.Sorted(maps.Keys(m)) {
			faults = append(faults, s.checkValue(at+"."+k, strings.TrimPrefix(kind, "map of "), m[k])...)
		}
	case strings.HasSuffix(kind, "[]"):
		l, isList := v.([]any)
		ok = isList
		for _, e := range l {
			faults = append(faults, s.checkValue(at, strings.TrimSuffix(kind, "[]"), e)...)
		}
	case kind == "object":
		_, ok = v.(map[string]any)
	case kind == "string":
		_, ok = v.(string)
	case kind == "number":
		_, ok = v.(float64)
	case kind == "boolean":
		_, ok = v.(bool)
	default:
		return s.missingFields(at, s.types[kind].fields, v)
	}
	if !ok {
		faults = append(faults, errors.New(at+" is "+fmt.Sprintf("%T, not %s", v, kind)))
	}
	return faults
}

// nullable are fields that GSV sends as null.
var nullable = map[string]bool{
	"heartbeat.status agents.main nextHeartbeatAt": true, "heartbeat.status agents.main lastHeartbeatAt": true,
	"heartbeat.start agents.main nextHeartbeatAt": true, "heartbeat.start agents.main lastHeartbeatAt": true,
}
