package rpc

import (
	"context"
	"fmt"
	"sync"

	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
)

// maxWatches is the number of folders that one connection may watch.
const maxWatches = 16

// watches are the folders that clients watch.
type watches struct {
	nodes *nodes.Hub

	mu   sync.Mutex // guards open
	open map[string]watch
}

type watch struct {
	client *Conn
	node   protocol.NodeID
}

func (w *watches) add(c *Conn, node protocol.NodeID) (id string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, o := range w.open {
		if o.client == c {
			n++
		}
	}
	if n >= maxWatches {
		return "", protocol.ErrConflict.With(fmt.Sprintf("this connection watches %d folders already", maxWatches))
	}
	id = protocol.NewID()
	w.open[id] = watch{c, node}
	return id, nil
}

// remove removes a watch of c and notifies its node. It returns false when there was none.
func (w *watches) remove(id string, c *Conn) bool {
	w.mu.Lock()
	o, ok := w.open[id]
	if ok = ok && o.client == c; ok {
		delete(w.open, id)
	}
	w.mu.Unlock()
	if !ok {
		return false
	}
	if link, online := w.nodes.LinkOf(o.node); online {
		link.SendEvent(context.Background(), protocol.EventFilesUnwatch, protocol.FilesUnwatchParams{WatchID: id})
	}
	return true
}

// removeAll removes all watches of a connection.
func (w *watches) removeAll(c *Conn) {
	w.mu.Lock()
	var ids []string
	for id, o := range w.open {
		if o.client == c {
			ids = append(ids, id)
		}
	}
	w.mu.Unlock()
	for _, id := range ids {
		w.remove(id, c)
	}
}

// forward sends a node's report to the clients that watch the folder.
func (w *watches) forward(ctx context.Context, node protocol.NodeID, change protocol.FilesChange) {
	ids := change.WatchIDs
	change.Node = node
	for _, id := range ids {
		w.mu.Lock()
		o, ok := w.open[id]
		if ok = ok && o.node == node; ok && change.Again {
			delete(w.open, id)
		}
		w.mu.Unlock()
		if ok {
			change.WatchIDs = []string{id}
			o.client.SendEvent(ctx, protocol.EventFiles, change)
		}
	}
}
