package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// A program that runs a command on a machine through a gateway on this computer.
func Example() {
	connected := make(chan struct{}, 1)
	c := client.New(client.Options{
		URL:   "ws://127.0.0.1:8787/ws",
		Token: os.Getenv("FAIRLEAD_TOKEN"),
		Connect: func() protocol.ConnectParams {
			return protocol.ConnectParams{
				MinProtocol: protocol.Version, MaxProtocol: protocol.Version,
				Client: protocol.ClientInfo{ID: "example", Version: "1.0", Platform: "linux", Mode: protocol.ModeClient},
			}
		},
		OnUp: func(context.Context, protocol.ConnectResult) { connected <- struct{}{} },
	})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }() // connects, and reconnects until ctx ends
	select {
	case <-connected:
	case err := <-done: // such as a refused token
		log.Fatal(err)
	}
	result, err := client.Call(ctx, c, protocol.InvokeTool, protocol.ToolInvokeParams{
		Tool: "laptop__Bash", Args: json.RawMessage(`{"command":"uname -a"}`),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(result.Result))
	stop()
	<-done
}
