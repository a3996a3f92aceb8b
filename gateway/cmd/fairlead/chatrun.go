package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"syscall"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/publicnet"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
)

// follow shows a run until it is over.
func (ch *chat) follow(ctx context.Context, run protocol.RunID) error {
	if !ch.hasFeed() {
		return ch.followSpec(ctx, run)
	}
	ch.stopping = false
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ch.sigs:
			if err := ch.interrupt(ctx, run); err != nil {
				return err
			}
		case s := <-ch.resync:
			if over, err := ch.resumeAfterGap(ctx, run, s); over {
				return err
			}
		case change := <-ch.changes:
			over, err := ch.show(ctx, run, change)
			for !over && err == nil && len(ch.postponed) > 0 {
				change, ch.postponed = ch.postponed[0], ch.postponed[1:]
				over, err = ch.show(ctx, run, change)
			}
			if over || err != nil {
				return err
			}
		}
	}
}

func (ch *chat) hasFeed() bool { return ch.c.offers(protocol.FeedSubscribe.Name) }

// cancelRun asks the gateway to stop a run.
func (ch *chat) cancelRun(ctx context.Context, run protocol.RunID) error {
	if !ch.hasFeed() {
		_, err := call(ctx, ch.c, protocol.ChatSend, protocol.ChatSendParams{SessionKey: ch.session, Message: "/stop"})
		return err
	}
	_, err := call(ctx, ch.c, protocol.ChatCancel, protocol.ChatCancelParams{SessionKey: ch.session, RunID: run})
	return err
}

// interrupt stops the run and its approvals; the run's end follows as a change. The second time it
// ends the chat, which is context.Canceled.
func (ch *chat) interrupt(ctx context.Context, run protocol.RunID) error {
	if ch.stopping {
		return context.Canceled
	}
	ch.stopping = true
	ch.term.note("Stopping…")
	return ch.cancelRun(ctx, run)
}

// stop cancels a run whose chat was told to end.
func (ch *chat) stop(run protocol.RunID) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return ch.cancelRun(ctx, run)
}

// resumeAfterGap resumes following the run after lost events; over reports that it has ended.
func (ch *chat) resumeAfterGap(ctx context.Context, run protocol.RunID, s protocol.FeedSnapshot) (over bool, err error) {
	ch.updateStatus(s.Status)
	r, open := findRun(s, run)
	if !open { // that snapshot may be older than the run; a new request is not
		s, err = call(ctx, ch.c, protocol.FeedSubscribe, protocol.Empty{})
		switch {
		case errors.Is(err, protocol.ErrUnavailable): // lost again: the next snapshot follows
			return false, nil
		case err != nil:
			return false, err
		}
		r, open = findRun(s, run)
	}
	if open {
		ch.term.delta(protocol.Delta{RunID: r.RunID, Step: r.Step, Text: r.Text}) // the missed part
		return false, nil
	}
	ch.term.note("The connection was lost and restored.")
	found := false
	p, err := call(ctx, ch.c, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: ch.session, Limit: 5})
	if err == nil {
		for _, m := range p.Messages {
			if m.RunID == run && m.Role == protocol.RoleAssistant && m.Origin != protocol.OriginNotice {
				ch.term.print(m.Content.Text() + "\n")
				found = true
			}
		}
	}
	if !found {
		return true, &exitError{code: exitFailed, err: errors.New("the run ended while the connection was lost, and its answer could not be fetched; open the chat to see it")}
	}
	return true, nil
}

func findRun(s protocol.FeedSnapshot, run protocol.RunID) (protocol.RunInfo, bool) {
	for _, r := range s.Runs {
		if r.RunID == run {
			return r, true
		}
	}
	return protocol.RunInfo{}, false
}

// updateStatus stores the gateway's status, and prints it when it delays the run.
func (ch *chat) updateStatus(s protocol.Status) {
	ch.status = s
	if words := pausedWords(s); words != "" {
		ch.term.notice(words)
	}
}

// show prints one change of the run and asks its approvals.
func (ch *chat) show(ctx context.Context, run protocol.RunID, change protocol.Change) (over bool, err error) {
	switch change.Kind {
	case protocol.ChangeDelta:
		if change.Delta.RunID == run {
			ch.term.delta(*change.Delta)
		}
	case protocol.ChangeStatus:
		if change.Status != nil {
			ch.updateStatus(*change.Status)
		}
	case protocol.ChangeNode:
		if n := change.Node; n != nil {
			ch.term.names[n.ID] = n.Name
		}
	case protocol.ChangeCall:
		if change.Call.RunID == run {
			ch.term.call(*change.Call)
		}
	case protocol.ChangeMessage:
		if change.Message.RunID == run {
			ch.term.message(*change.Message)
		}
	case protocol.ChangeQuestion:
		switch q := *change.Question; {
		case q.Kind == protocol.AskInput:
			return false, ch.askServerQuestion(ctx, run, q)
		case q.RunID == run:
			return false, ch.question(ctx, q)
		}
	case protocol.ChangeRun:
		r := *change.Run
		if r.RunID != run {
			return false, nil
		}
		if r.Notice != "" {
			ch.term.notice(r.Notice)
		}
		if r.Over() {
			return true, ch.term.finish(r)
		}
	}
	return false, nil
}

// localChat chats with this computer's running gateway, or with one that ends with the chat.
func (o *options) localChat(ctx context.Context, ch *chat, message string, own node.Options) error {
	listen, here := o.listenAddress()
	if !here || !isUnused(ctx, listen) {
		if c, err := o.connectAs(ctx, client.Options{OnEvent: ch.addEvent}); err == nil {
			defer c.close()
			return ch.run(ctx, c, message)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	home, err := o.homeDir()
	if err != nil {
		return err
	}
	logs, err := gateway.OpenLog(home, "gateway.log")
	if err != nil {
		return err
	}
	defer logs.Close()
	l := localOptions{home: home, listen: listen, log: slog.New(slog.NewTextHandler(logs, nil)), node: &own}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var chatErr error
	var wg crash.Group
	err = l.run(ctx, func(g *gateway.Gateway) {
		wg.Go(func() {
			defer cancel()
			c, err := o.connectWith(ctx, g.URL(), client.Options{URL: g.URL(), Dial: g.Dial})
			if err != nil {
				chatErr = err
				return
			}
			defer c.close()
			chatErr = ch.run(ctx, c, message)
		})
	})
	cancel()
	wg.Wait()
	return errors.Join(chatErr, err)
}

// listenAddress returns the address on which a gateway of this process listens. here reports
// whether it is the one that commands on this computer use, as FAIRLEAD_URL sets it.
func (o *options) listenAddress() (address string, here bool) {
	at, err := url.Parse(o.url)
	if err != nil || at.Scheme != "ws" || at.Port() == "" || !publicnet.IsLoopback(at.Hostname()) {
		return gateway.DefaultListen, false
	}
	return at.Host, true
}

// isUnused reports whether nothing listens at an address. Then the chat starts its own gateway
// without trying to connect again.
func isUnused(ctx context.Context, address string) bool {
	dialer := net.Dialer{Timeout: time.Second}
	c, err := dialer.DialContext(ctx, "tcp", address)
	if err == nil {
		c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}
