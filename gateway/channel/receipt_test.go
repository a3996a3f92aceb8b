package channel_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/channel"
	"fairlead/gateway/channel/channeltest"
	"fairlead/gateway/protocol"
)

func TestConfirmedDeliveriesWaitForTheirReceipt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := channeltest.Open(t, t.TempDir())
		b.Set(t, "channels.telex", `{"dmPolicy":"open"}`)
		b.Begin()
		defer b.Close()
		link := &fakeConn{}
		p := protocol.ConnectParams{Client: protocol.ClientInfo{ID: "w", Channel: "telex"}, Extensions: []string{protocol.ExtDelivery}}
		if err := channel.Name(&p); err != nil || p.Client.AccountID != "w" {
			t.Fatalf("got %+v, error %v, want the account w", p.Client, err)
		}
		ready, detach, err := b.Programs.Attach(p, link)
		if err != nil {
			t.Fatal(err)
		}
		ready()
		in := directMessage("hello")
		in.Channel, in.AccountID = "telex", "w"
		if _, err := b.Inbox.Inbound(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		time.Sleep(40 * time.Second) // no receipt within 30 s: the message is sent again 2 s later
		synctest.Wait()
		if len(link.out) != 2 || link.out[0].Message.Text != link.out[1].Message.Text || link.out[0].DeliveryID == "" {
			t.Fatalf("got %+v, want the message twice", link.out)
		}
		if ack, err := b.Programs.Delivered("telex", "w", protocol.ChannelDeliveredParams{DeliveryID: link.out[1].DeliveryID, MessageID: "t1"}); err != nil || ack.Dropped {
			t.Errorf("got %+v, error %v, want it accepted", ack, err)
		}
		synctest.Wait()
		if waiting, err := b.Store.Outbox.CountWaiting(t.Context()); err != nil || len(waiting) != 0 {
			t.Errorf("got waiting %v, error %v, want none", waiting, err)
		}
		detach()
		in.Message.Text = "goodbye"
		if _, err := b.Inbox.Inbound(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if waiting, _ := b.Store.Outbox.CountWaiting(t.Context()); waiting["telex:w"] != 1 || len(link.out) != 2 {
			t.Errorf("got waiting %v, sent %+v, want 1, 2", waiting, link.out)
		}
		time.Sleep(49 * time.Hour)
		ready, detach, _ = b.Programs.Attach(p, link)
		ready()
		synctest.Wait()
		if waiting, _ := b.Store.Outbox.CountWaiting(t.Context()); len(waiting) != 0 || len(link.out) != 2 {
			t.Errorf("after two days: got waiting %v, sent %+v, want none and no third", waiting, link.out)
		}
		detach()
	})
}

// fakeConn is a link that records what is sent. The tests read it while nobody sends.
type fakeConn struct{ out []protocol.ChannelOutbound }

func (w *fakeConn) SendEvent(_ context.Context, name string, payload any) error {
	if name == protocol.EventOutbound {
		w.out = append(w.out, payload.(protocol.ChannelOutbound))
	}
	return nil
}

func (w *fakeConn) Close(int, string) {}
