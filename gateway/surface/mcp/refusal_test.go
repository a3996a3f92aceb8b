package mcp

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/job"
)

func TestRefusedFileIsTriedMoreAndMoreRarely(t *testing.T) {
	for code, want := range map[protocol.FaultCode]int{protocol.FaultNotFound: 7, protocol.FaultPermissionDenied: 1, protocol.FaultForbidden: 100} {
		synctest.Test(t, func(t *testing.T) {
			tries := 0
			c := &client{calls: calls{&fake{call: func(context.Context, auth.Principal, catalog.Request) (job.Result, error) {
				tries++
				return job.Result{}, protocol.NewFault(code, "no")
			}}}}
			for range 100 { // a loop of a client
				if err := c.watchFile(t.Context(), nil, auth.Principal{}, fileA); err == nil {
					t.Error("got no error")
				}
				time.Sleep(time.Second)
			}
			if tries != want {
				t.Errorf("%s: got %d tries in 100 s, want %d", code, tries, want)
			}
		})
	}
}
