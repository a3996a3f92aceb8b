package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"syscall"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/protocol/client"
)

// localChat chats with the gateway that runs on this computer, or with a gateway of its own that
// ends with the chat.
func (o *options) localChat(ctx context.Context, ch *chat, message string, l localOptions) error {
	listen, here := o.listenAddress()
	if !here || !isUnused(ctx, listen) {
		if c, err := o.connect(ctx); err == nil {
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
	l.home, l.node, l.listen, l.log = home, true, listen, slog.New(slog.NewTextHandler(logs, nil))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var chatErr error
	var wg sync.WaitGroup
	err = l.run(ctx, func(g *gateway.Gateway) {
		wg.Go(func() {
			defer cancel()
			c, err := o.connectWith(ctx, g.URL(), client.Options{URL: g.URL(), Dial: g.DialOwner()})
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
	if err != nil || at.Scheme != "ws" || at.Port() == "" || at.Hostname() != "localhost" && !net.ParseIP(at.Hostname()).IsLoopback() {
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
