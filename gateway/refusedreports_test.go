//go:build unix

package gateway_test

import (
	"encoding/json"
	"fmt"

	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// transferReport is a report of an end of a transfer, which an event asks for.
type transferReport struct{ event, fields string }

// transferReports are the methods of these reports, here for a file without bytes. Their OK
// confirms the report only. What follows from a report is stored before anybody sees it.
var transferReports = map[string]transferReport{
	"transfer.meta":     {protocol.EventTransferSend, `"size":0`},
	"transfer.accept":   {protocol.EventTransferReceive, `"error":""`},
	"transfer.complete": {protocol.EventTransferStart, `"error":""`},
	"transfer.done":     {protocol.EventTransferEnd, `"bytesWritten":0`},
}

// basicEnd is a machine of the basic protocol that is both ends of a transfer.
type basicEnd struct {
	*client.Client
	events   chan protocol.EventFrame
	transfer protocol.TransferParams
}

// both starts a transfer from a new machine to itself.
func (r *refusal) both() *basicEnd {
	e := &basicEnd{events: make(chan protocol.EventFrame, 8)}
	id := protocol.NodeID(r.name("old"))
	node, _, stop := gsvNode(r.t, client.Options{URL: "ws://memory/ws", Dial: r.gw.Dial, OnEvent: func(event protocol.EventFrame) { e.events <- event }}, id)
	r.leaveAfterTest(id, stop)
	e.Client = node
	r.until("the machine is online", func() bool { return r.info(string(id)).Online })
	e.transfer = ofTransfer(ask(r.accessGateway, protocol.TransferStart, protocol.TransferStartParams{
		Sources: []string{string(id) + ":/from"}, Destination: string(id) + ":/to", Conflict: protocol.ConflictOverwrite,
	}))
	return e
}

// play reports until method is due, whose parameters it returns. An empty method means the end.
func (e *basicEnd) play(r *refusal, method string) json.RawMessage {
	r.t.Helper()
	for {
		var event protocol.EventFrame
		polltest.Until(r.t, "an event of the transfer", func() bool {
			select {
			case event = <-e.events:
				return true
			default:
				return method == "" && ask(r.accessGateway, protocol.TransferGet, e.transfer).Over()
			}
		})
		if event.Event == "" {
			return nil
		}
		var p struct{ TransferID uint32 }
		if err := json.Unmarshal(event.Payload, &p); err != nil {
			r.t.Fatal(err)
		}
		for name, report := range transferReports {
			if report.event != event.Event {
				continue
			}
			params := json.RawMessage(fmt.Sprintf(`{"transferId":%d,%s}`, p.TransferID, report.fields))
			if name == method {
				return params
			}
			if _, err := r.raw(e.Client, name, params); err != nil {
				r.t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// report makes a report while nothing can be stored: the state that people see is the stored one,
// and the transfer is done once it can be stored.
func (r *refusal) report(method string, report transferReport) {
	e := r.both()
	params := e.play(r, method)
	r.setStore(true)
	if _, err := r.raw(e.Client, method, params); err != nil {
		r.t.Errorf("%s while nothing can be stored: got %v, want OK", method, err)
	}
	var seen protocol.Transfer
	r.until("the report has an effect", func() bool {
		seen = ask(r.accessGateway, protocol.TransferGet, e.transfer)
		return len(e.events) > 0 || seen.Error != "" || seen.Over()
	})
	var stored string
	if err := r.db.QueryRow("SELECT state FROM transfers WHERE id = ?", e.transfer.ID).Scan(&stored); err != nil {
		r.t.Error(err)
	}
	r.setStore(false)
	if seen.State != stored || stored != protocol.TransferRunning {
		r.t.Errorf("%s while nothing can be stored: the owner sees %s (%s), stored is %s, want running", method, seen.State, seen.Error, stored)
	}
	if _, err := r.raw(e.Client, method, params); err != nil {
		r.t.Errorf("%s again: got %v, want OK", method, err)
	}
	e.play(r, "")
	if end := ask(r.accessGateway, protocol.TransferGet, e.transfer); end.State != protocol.TransferDone || end.Attempts != 1 {
		r.t.Errorf("%s: the transfer ended as %s (%s) in attempt %d, want done in the first", method, end.State, end.Error, end.Attempts)
	}
}
