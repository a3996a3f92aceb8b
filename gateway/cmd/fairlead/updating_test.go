package main

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/surface/rpc"
)

func TestACommandDuringAnUpdateOfTheStoreSaysSoAtOnce(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, end := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		rpc.NotYet(ctx, l, func() *protocol.Error {
			return protocol.Updating{Step: 2, Steps: 3, Percent: 40}.Error("step 2 of 3, about 40 %")
		})
		close(over)
	}()
	defer func() { end(); <-over }()
	o := options{url: "ws://" + l.Addr().String() + "/ws", token: "t", home: t.TempDir()}
	c, err := o.connect(t.Context())
	if err == nil {
		c.close()
	}
	if !errors.Is(err, protocol.ErrUnavailable) || !strings.Contains(err.Error(), "the store is being updated: step 2 of 3, about 40 %") || exitCode(err, false) != exitUnreachable {
		t.Errorf("%v", err)
	}
	found := o.examine(t.Context())
	if last := found[len(found)-1]; last.State != "warning" || !strings.Contains(last.Fix, "wait") {
		t.Errorf("%+v", found)
	}
}
