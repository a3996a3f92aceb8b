package rpc

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// largeJournal has calls with large arguments and results.
type largeJournal []store.Call

func (l largeJournal) List(context.Context, protocol.JournalListParams) ([]store.Call, bool, error) {
	return l, false, nil
}

func TestCallsWithLargeArgumentsDoNotHideTheJournal(t *testing.T) {
	long := func(n int) json.RawMessage { return json.RawMessage(`{"command":"` + strings.Repeat("ü", n/2) + `"}`) }
	picture := json.RawMessage(`"` + strings.Repeat("p", 5<<20) + `"`)
	list := largeJournal{{Info: protocol.CallInfo{CallID: "0", Args: long(10 << 20), Error: strings.Repeat("e", 10<<20)}}}
	for range 3 {
		list = append(list, store.Call{Info: protocol.CallInfo{CallID: "1", Args: long(100)}, ResultJSON: picture})
	}
	r, err := recordMethods{Records: Records{Journal: list}}.listJournal(t.Context(), protocol.JournalListParams{})
	if err != nil || len(r.Calls) != 2 || !r.More {
		t.Fatalf("got %d calls, more %v, error %v, want 2 and more", len(r.Calls), r.More, err)
	}
	var cut struct {
		Truncated bool
		Bytes     int
		Preview   string
	}
	if json.Unmarshal(r.Calls[0].Input, &cut) != nil || !cut.Truncated || cut.Bytes != len(list[0].Info.Args) ||
		!strings.HasPrefix(cut.Preview, `{"command":"ü`) {
		t.Errorf("got %.200s, want its beginning and its size", r.Calls[0].Input)
	}
	if string(r.Calls[1].Input) != string(list[1].Info.Args) || len(r.Calls[1].Output) != len(picture) {
		t.Error("what is not too long is cut")
	}
	frame, err := protocol.EncodeResult("1", r)
	if err != nil || len(frame) > protocol.MaxWriteFrame {
		t.Errorf("got %d bytes, error %v, want at most %d", len(frame), err, protocol.MaxWriteFrame)
	}
	if r, err = (recordMethods{Records: Records{Journal: list[2:]}}).listJournal(t.Context(), protocol.JournalListParams{}); err != nil || len(r.Calls) != 1 {
		t.Errorf("the next page: got %d calls, error %v, want 1", len(r.Calls), err)
	}
}
